import { describe, expect, it } from "vitest";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { requireRoomForUploads } from "./limits.ts";
import type { ControlServer } from "./operation.ts";

describe("the limit for uploads of a sandbox", () => {
  it.each([
    [10, undefined],
    [9, "This would make 10 bytes of uploads in one sandbox; 9 are allowed."],
  ])(
    "counts the present state and other snapshots, if %d are allowed [interfaces 7]",
    (upload_bytes, says) => {
      const released: unknown[] = [];
      const blobs = {
        capture: () => ["present"],
        countBytes: (all: (string[] | undefined)[]) => 2 * new Set(all.flatMap((one) => one ?? [])).size,
        release: (one: unknown) => released.push(one),
      };
      const server = { limits: { upload_bytes }, sandboxes: { blobs } } as unknown as ControlServer;
      const snapshots = new Map([
        ["replaced", { blobs: ["gone"] }],
        ["kept", { blobs: ["kept", "present"] }],
        ["empty", { blobs: undefined }],
      ]);
      const ask = (blobs: string[] | undefined, asked = server) =>
        requireRoomForUploads(asked, { snapshots } as unknown as Sandbox, {
          ...{ name: "replaced", value: { blobs } as never },
        });
      const added = ["a", "b", "c"];
      if (says === undefined) expect(() => ask(added)).not.toThrow();
      else expect(() => ask(added)).toThrow(says);
      expect(released).toEqual([["present"]]);
      ask(undefined);
      ask(added, { ...server, limits: undefined });
      expect(released).toHaveLength(1);
    },
  );
});
