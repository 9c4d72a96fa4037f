import { describe, expect, it } from "vitest";
import {
  createFakeSandbox,
  createFakeUploads,
  createRoot,
  makeNotesWorld,
} from "../../test/support/persistence-fakes.ts";
import type { SandboxValue } from "../engine/sandbox/sandbox-value.ts";
import { SandboxImage } from "./sandbox-image.ts";

type ImageSetup = ReturnType<typeof createFakeSandbox> & Pick<ReturnType<typeof createFakeUploads>, "bytes">;

/** Changes after which a sandbox differs from its image. The first ones only count requests. */
const COUNTS: [string, (stand: ImageSetup) => unknown][] = [
  ["a request", ({ plain }) => ++plain.world.requests],
  ["a request that was counted", ({ count }) => count()],
  ["an entry of the history", ({ plain }) => ++plain.history.revision],
];
const CHANGES: [string, (stand: ImageSetup) => unknown][] = [
  ["a record", ({ write }) => write("n2", "new")],
  ["the clock", ({ plain }) => plain.world.setClock("frozen", 600)],
  ["a restore to the same root", ({ plain }) => ++plain.world.generation],
  ["another world of the same root", ({ plain }) => (plain.world = copyWorld(plain.world))],
  ["a fault", ({ plain }) => ++plain.faults.rules.revision],
  ["bytes of an upload", ({ bytes }) => ++bytes.revision],
  ["the fixture", ({ plain }) => (plain.source = { ...plain.source })],
  ["a setting", ({ plain }) => (plain.settings = { ...plain.settings })],
  ["the seed", ({ plain }) => ++plain.seed],
  ["a reset", ({ plain }) => ++plain.resets],
  ["its initial instant", ({ plain }) => ++plain.start],
  ["when it was made", ({ plain }) => ++plain.created_at],
  ["a snapshot", ({ plain }) => plain.snapshots.set("b", plain.toValue())],
  ["a snapshot that is gone", ({ plain }) => plain.snapshots.delete("a")],
  ["another snapshot of the name", ({ plain }) => plain.snapshots.set("a", plain.toValue())],
  [
    "another name for a snapshot",
    ({ plain }) => {
      plain.snapshots.set("b", plain.snapshots.get("a"));
      plain.snapshots.delete("a");
    },
  ],
];

/** An equal world in another object. */
function copyWorld(world: ImageSetup["plain"]["world"]): ImageSetup["plain"]["world"] {
  const other = makeNotesWorld(world.root);
  other.clock = world.clock;
  other.generation = world.generation;
  return other;
}

function createImage() {
  const made = createFakeSandbox();
  const { uploads, ...rest } = createFakeUploads();
  made.plain.snapshots.set("a", { ...made.plain.toValue(), blobs: "bytes of a" });
  return { ...made, ...rest, uploads, image: SandboxImage.capture(made.sandbox, uploads) };
}

describe("a sandbox's image", () => {
  it("equals its sandbox until something changes [interfaces 2]", () => {
    const { image } = createImage();
    expect([image.isCurrent(), image.differsOnlyInCounts()]).toEqual([true, true]);
  });

  it.each(COUNTS)(
    "differs after %s, which must be saved and need not be undone [interfaces 2]",
    (_, happen) => {
      const made = createImage();
      happen(made);
      expect([made.image.isCurrent(), made.image.differsOnlyInCounts()]).toEqual([false, true]);
    },
  );

  it.each(CHANGES)("differs after %s, which must be saved [interfaces 2]", async (_, happen) => {
    const made = createImage();
    await happen(made);
    expect([made.image.isCurrent(), made.image.differsOnlyInCounts()]).toEqual([false, false]);
  });

  it("equals its sandbox again after a rollback to it [interfaces 2]", () => {
    const made = createImage();
    for (const [, happen] of COUNTS) happen(made);
    made.plain.world.generation += 1;
    made.plain.faults.rules.revision += 1;
    made.bytes.revision += 1;
    made.image.refreshVersions();
    expect([made.image.isCurrent(), made.image.differsOnlyInCounts()]).toEqual([true, true]);
  });

  it("counts state from a store as unsaved until it is marked as saved [interfaces 2]", () => {
    const { sandbox, uploads, held } = createImage();
    const image = SandboxImage.fromLoaded(sandbox, uploads, { ...sandbox.toValue(), blobs: "loaded" });
    expect([image.isCurrent(), image.differsOnlyInCounts()]).toEqual([false, false]);
    image.refreshVersions();
    expect(image.isCurrent()).toBe(true);
    expect(held.get("loaded")).toBe(1);
    expect(image.faults).toEqual({ numbered: 0 });
  });

  it("does not follow later changes of the sandbox [interfaces 2]", () => {
    const { image, plain, sandbox } = createImage();
    const { created_at, fixture, seed, settings, resets, start } = sandbox;
    plain.snapshots.clear();
    plain.seed = 99;
    expect(image.about).toStrictEqual({
      ...{ created_at, fixture, seed: 7, settings, resets, start, forked_from: undefined },
    });
    expect([...image.snapshots.keys()]).toEqual(["a"]);
    expect(image.base).toBe(plain.source.buildRoot());
    expect(image.history).toEqual({ about: { next: 1, base: 0, dropped: 0 }, entries: new Map() });
    expect(seed).toBe(7);
  });

  it("holds its bytes until it is released, and lists their files [interfaces 2]", () => {
    const { image, held } = createImage();
    // The sandbox's own bytes were captured for the image. Those of a snapshot get a second reference.
    expect(Object.fromEntries(held)).toEqual({ "bytes of a": 1 });
    expect([...image.listPaths()].map(({ path }) => path)).toEqual(["/default's bytes", "/bytes of a"]);
    expect(image.toStoredUploads({ blobs: "others" } as unknown as SandboxValue)).toEqual({ of: "others" });
    image.release();
    expect(Object.fromEntries(held)).toEqual({ "default's bytes": -1, "bytes of a": 0 });
  });

  it("syncs the bytes that the previous image lacks [interfaces 2]", async () => {
    const { image, plain, sandbox, uploads, synced } = createImage();
    await image.syncBytes(undefined);
    expect(synced.splice(0)).toEqual(["default's bytes", "bytes of a"]);
    plain.snapshots.set("b", { ...plain.toValue(), blobs: "bytes of b" });
    await SandboxImage.capture(sandbox, uploads).syncBytes(image);
    expect(synced).toEqual(["default's bytes", "bytes of b"]);
  });

  it("has the root of its fixture and the sandbox's seed [interfaces 2]", () => {
    const { plain, sandbox, uploads } = createImage();
    const [first, second] = [createRoot(), createRoot()];
    plain.source.buildRoot = ((seed: number) =>
      seed === 7 ? first : second) as typeof plain.source.buildRoot;
    expect(SandboxImage.capture(sandbox, uploads).base).toBe(first);
  });
});
