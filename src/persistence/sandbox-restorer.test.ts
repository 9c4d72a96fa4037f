import { describe, expect, it } from "vitest";
import { createFakeSandbox, createFakeUploads, notes } from "../../test/support/persistence-fakes.ts";
import { createApi } from "../engine/contract/api.ts";
import type { UnusableScenario } from "../engine/sandbox/fault-types.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { LoadedFixture, SavedState } from "../engine/sandbox/sandbox-value.ts";
import { SandboxImage } from "./sandbox-image.ts";
import { type RestorerParts, SandboxRestorer } from "./sandbox-restorer.ts";
import { listRowChanges } from "./sandbox-rows.ts";
import type { Row } from "./store.ts";

/** Restores a saved sandbox on a fake server. */
function createRestorer(wall = 0) {
  const made = createFakeSandbox();
  const { uploads, held } = createFakeUploads();
  const restoredSandboxes: { name: string; fixture: LoadedFixture; savedState: SavedState }[] = [];
  const deleted: string[] = [];
  const said: string[] = [];
  const from: unknown[] = [];
  const restored: unknown[] = [];
  const parts = {
    sandboxes: {
      restoreSaved(options: { name: string }, fixture: LoadedFixture, savedState: SavedState) {
        restoredSandboxes.push({ ...options, fixture, savedState });
        const faults = {
          ...made.plain.faults,
          restoreState(state: unknown): readonly UnusableScenario[] {
            restored.push(state);
            return [];
          },
        };
        return { ...made.plain, faults } as unknown as Sandbox;
      },
      delete: (name: string) => deleted.push(name),
    },
    fixtures: { load: (_: string | object): LoadedFixture => made.plain.source },
    getApi: () => createApi([{ name: "notes", collections: [notes], operations: [] }]),
    uploads: Object.assign(uploads, {
      async fromStored(files: object, warn: (warning: string) => void, folder?: string) {
        from.push({ files, folder });
        warn("its bytes are gone.");
        return `from ${JSON.stringify(files)}`;
      },
    }),
    validator: { checkShape: (_: unknown) => {}, checkWorld: (..._: unknown[]) => {} },
    wallClock: () => wall,
    log: { warn: (words: string) => said.push(words) },
  };
  const restorer = new SandboxRestorer(parts as unknown as RestorerParts);
  const rows = () =>
    [...listRowChanges(undefined, SandboxImage.capture(made.sandbox, uploads))].filter(
      (change): change is Row & { sandbox: string } => "section" in change,
    );
  return { ...made, ...{ held, restoredSandboxes, deleted, said, from, restored, parts, restorer, rows } };
}

describe("a restored sandbox", () => {
  it("has everything that was saved of it [interfaces 2]", async () => {
    const { restorer, rows, write, remove, plain, restoredSandboxes, from, said, restored, held } =
      createRestorer();
    write("n2", "new");
    remove("n1");
    plain.windows.count("key", 10, 500);
    plain.created_at = 1;
    const image = await restorer.restoreRows("default", rows(), "/folder");
    const [{ name, savedState, fixture }] = restoredSandboxes as [(typeof restoredSandboxes)[0]];
    expect([name, fixture, restored]).toEqual(["default", plain.source, [{ numbered: 0 }]]);
    const { root } = savedState.value.world;
    expect([...root.tables.get("notes")!.all()]).toEqual([{ id: "n2", text: "new" }]);
    expect(savedState).toMatchObject({
      ...{ created_at: 1, resets: 0, start: 500, snapshots: new Map(), seed: 7 },
      value: { taken_at: 500, world: { requests: 0, secretKey: "key", origin: 0, seed: 7 } },
      history: { about: { next: 1 }, entries: [] },
    });
    expect(savedState.value.windows.toJSON()).toEqual([["key", { minute: 0, requests: 1, tokens: 0 }]]);
    expect(from).toEqual([{ files: { of: "default's bytes" }, folder: "/folder" }]);
    expect(said).toEqual(["Sandbox default: its bytes are gone."]);
    // The bytes now belong to the sandbox, and the image has its own reference to them.
    expect([image.value.world.root, held.get(String(image.value.blobs))]).toEqual([root, 0]);
    expect(image.isCurrent()).toBe(false);
  });

  it("keeps a frozen clock, moves a running one on, and never goes back [interfaces 2]", async () => {
    const restoreClockAt = async (mode: "frozen" | "real" | "scaled", now: number) => {
      const { restorer, rows, plain, restoredSandboxes } = createRestorer(now);
      plain.world.clock = {
        mode,
        at: 500,
        wall: 1000,
        rate: mode === "frozen" ? 0 : mode === "real" ? 1 : 60,
      };
      plain.toValue = () => ({
        ...createRestorer().plain.toValue(),
        world: { ...plain.world.toValue(), clock: plain.world.clock },
      });
      await restorer.restoreRows("default", rows());
      return restoredSandboxes[0]!.savedState.value.world.clock;
    };
    expect(await restoreClockAt("frozen", 3000)).toEqual({ mode: "frozen", rate: 0, wall: 3000, at: 500 });
    expect(await restoreClockAt("real", 3000)).toEqual({ mode: "real", rate: 1, wall: 3000, at: 2500 });
    expect(await restoreClockAt("scaled", 3000)).toMatchObject({ at: 500 + 2000 * 60 });
    expect(await restoreClockAt("real", 400)).toEqual({ mode: "real", rate: 1, wall: 400, at: 500 });
  });

  it("keeps the order of its snapshots, with unlisted ones last [interfaces 2]", async () => {
    const { restorer, rows, plain, restoredSandboxes } = createRestorer();
    for (const name of ["z", "m", "a"]) plain.snapshots.set(name, plain.toValue());
    const given = rows().map((row) =>
      row.id === "about" && row.section === "sandbox"
        ? { ...row, text: row.text.replace('["z","m","a"]', '["z","gone","a"]') }
        : row,
    );
    await restorer.restoreRows("default", given);
    expect([...restoredSandboxes[0]!.savedState.snapshots.keys()]).toEqual(["z", "a", "m"]);
    expect(restoredSandboxes[0]!.savedState.snapshots.get("m")).toMatchObject({ taken_at: 500 });
  });

  it("uses the current fixture if it is unchanged, else the saved one [interfaces 2]", async () => {
    const edited = createRestorer();
    const loaded: unknown[] = [];
    const present = { ...edited.plain.source, name: "present" };
    edited.parts.fixtures.load = (fixture) => {
      loaded.push(fixture);
      return present;
    };
    await edited.restorer.restoreRows("default", edited.rows());
    expect([loaded, edited.restoredSandboxes[0]!.fixture]).toEqual([["reference"], present]);
    const rows = edited.rows();
    present.getDocument = () => ({ notes: ["another"] }) as never;
    await edited.restorer.restoreRows("default", rows);
    expect(loaded.slice(1)).toEqual(["reference", { notes: [] }]);
    expect(edited.restoredSandboxes[1]!.fixture.name).toBe("reference");
    edited.parts.fixtures.load = (fixture) => {
      if (typeof fixture === "string") throw new Error("no such fixture");
      return present;
    };
    await edited.restorer.restoreRows("default", rows);
    expect(edited.restoredSandboxes[2]!.fixture).toMatchObject({
      name: "reference",
      buildRoot: present.buildRoot,
    });
  });

  it("is refused for an invalid name, row or world, and nothing changes [interfaces 2]", async () => {
    const { restorer, rows, parts, restoredSandboxes } = createRestorer();
    for (const name of ["No", "a/b", "", "-"]) {
      await expect(restorer.restoreRows(name, rows())).rejects.toThrow("no sandbox can have this name");
    }
    parts.validator.checkShape = () => {
      throw new Error("about is missing");
    };
    await expect(restorer.restoreRows("default", rows())).rejects.toThrow("about is missing");
    parts.validator.checkShape = () => {};
    parts.validator.checkWorld = () => {
      throw new Error("a note is wrong");
    };
    await expect(restorer.restoreRows("default", rows())).rejects.toThrow("a note is wrong");
    expect(restoredSandboxes).toEqual([]);
    const strange = { section: "records/none", id: "n1", text: "{}" };
    await expect(restorer.restoreRows("default", [...rows(), strange])).rejects.toThrow(
      "records/none is unknown",
    );
  });

  it("reports missing scenarios, and is deleted again if it fails [interfaces 6]", async () => {
    const { restorer, rows, parts, said, deleted, plain } = createRestorer();
    const { restoreSaved } = parts.sandboxes;
    const restore = (restoreState: () => readonly UnusableScenario[]) => {
      parts.sandboxes.restoreSaved = (...given) => {
        restoreSaved(...given);
        return { ...plain, faults: { ...plain.faults, restoreState } } as unknown as Sandbox;
      };
    };
    restore(() => [{ scenario: "lost", reason: "no longer exists" }]);
    await restorer.restoreRows("default", rows());
    expect(said).toContain("The scenario lost was active in sandbox default, but no longer exists.");
    expect(deleted).toEqual([]);
    restore(() => {
      throw new Error("no rules");
    });
    await expect(restorer.restoreRows("default", rows())).rejects.toThrow("no rules");
    expect(deleted).toEqual(["default"]);
  });

  it("needs no saved faults or uploads [interfaces 2]", async () => {
    const { restorer, rows, restored, from } = createRestorer();
    await restorer.restoreRows(
      "default",
      rows().filter(({ id }) => id !== "faults" && id !== "uploads"),
    );
    expect([restored, from]).toEqual([[], [{ files: {}, folder: undefined }]]);
  });
});
