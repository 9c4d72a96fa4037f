import { mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { completeParts } from "../../test/support/registry-parts.ts";
import { RESOURCES } from "../engine/resources/index.ts";
import { organizations } from "../engine/resources/organizations/schema.ts";
import { SandboxRegistry } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { FixtureLibrary } from "./fixture-library.ts";
import { followFixtures } from "./follow-edits.ts";
import { DocumentWatch } from "./watch-documents.ts";

let cwd: string;
let source: FixtureLibrary;
let sandboxes: SandboxRegistry;
let watch: DocumentWatch | undefined;
let events: string[];
let waiting: (() => void)[];

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "watch-"));
  source = new FixtureLibrary({ resources: RESOURCES, cwd });
  events = [];
  waiting = [];
  sandboxes = new SandboxRegistry(
    completeParts({
      fixtures: source,
      defaults: { fixture: "reference", seed: 1, clock: { mode: "frozen", now: 0 }, settings: {} },
      wallClock: () => 0,
    }),
  );
});
afterEach(async () => {
  await watch?.close();
  watch = undefined;
  sandboxes.close();
  rmSync(cwd, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const push = (event: string) => {
    events.push(event);
    for (const wake of waiting.splice(0)) wake();
  };
  const edits = followFixtures(source, {
    sandboxes: () => sandboxes.all(),
    onChange: push,
    onProblem: (error) => push(error.format()),
  });
  watch = new DocumentWatch([edits], (error) => push(error.message));
  await watch.waitUntilReady();
}

/** Resolves with the n-th event of the watch. */
async function waitForEvent(count: number): Promise<string> {
  while (events.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
  return events[count - 1]!;
}

const write = (file: string, text: string) => writeFileSync(join(cwd, file), text);
const makeFixture = (...names: string[]) =>
  `organizations: [${names.map((name) => `{ id: org_${name} }`).join(", ")}]\n`;
const listIds = (sandbox: Sandbox) => [...sandbox.world.read().all(organizations)].map(({ id }) => id);
const touch = (sandbox: Sandbox) =>
  sandbox.world.transact((tx) =>
    tx.put(organizations, {
      id: "org_own",
      name: "Own",
      type: "company",
      plan: "standard",
      rate_limit: null,
    }),
  );

describe("a fixture file that changes on disk", () => {
  it("takes effect at once in untouched sandboxes, elsewhere at the next reset [interfaces 6]", async () => {
    write("my.yaml", makeFixture("a"));
    const fresh = sandboxes.create({ name: "fresh", fixture: "./my.yaml" });
    const used = sandboxes.create({ name: "used", fixture: "./my.yaml" });
    const other = sandboxes.create({ name: "other", fixture: "reference" });
    const otherRoot = other.world.root;
    touch(used);
    await fresh.world.advance(5000);
    await start();
    write("my.yaml", makeFixture("a", "b"));
    expect(await waitForEvent(1)).toBe(
      "fixture ./my.yaml was edited; applied to fresh; at the next reset also to used, because of changes since the start",
    );
    expect(listIds(fresh)).toEqual(["org_a", "org_b"]);
    expect(fresh.world.epochNow()).toBe(5000);
    expect(listIds(used)).toEqual(["org_a", "org_own"]);
    touch(fresh);
    write("my.yaml", makeFixture("a", "b", "c"));
    expect(await waitForEvent(2)).toBe(
      "fixture ./my.yaml was edited; applied at the next reset to fresh, used, because of changes since the start",
    );
    write("my.yaml", makeFixture("a", "b"));
    await waitForEvent(3);
    fresh.reset();
    used.reset();
    expect(listIds(used)).toEqual(["org_a", "org_b"]);
    expect(other.world.root).toBe(otherRoot);
    expect(sandboxes.create({ name: "new", fixture: "./my.yaml" }).world.root).toBe(fresh.world.root);
  });

  it("keeps the last good version after a broken edit, and reports its place [interfaces 6]", async () => {
    write("my.yaml", makeFixture("a"));
    const sandbox = sandboxes.create({ name: "s", fixture: "./my.yaml" });
    await start();
    write("my.yaml", "organizations:\n  - { id: org_a, plan: gold }\n");
    expect(await waitForEvent(1)).toMatch(/^my.yaml:2:24: `organizations\[0\].plan` must be/);
    sandbox.reset();
    expect(listIds(sandbox)).toEqual(["org_a"]);
    expect(listIds(sandboxes.create({ name: "t", fixture: "./my.yaml" }))).toEqual(["org_a"]);
    unlinkSync(join(cwd, "my.yaml"));
    expect(await waitForEvent(2)).toMatch(/there is no file my.yaml/);
    write("my.yaml", makeFixture("b"));
    expect(await waitForEvent(3)).toBe("fixture ./my.yaml was edited; applied to s, t");
    expect(listIds(sandbox)).toEqual(["org_b"]);
  });

  it("is watched after editors have replaced it, again and again [interfaces 6]", async () => {
    write("my.yaml", makeFixture("a"));
    const sandbox = sandboxes.create({ name: "s", fixture: "./my.yaml" });
    await start();
    for (const [round, name] of ["b", "c", "d"].entries()) {
      write(".my.yaml.swp", makeFixture(name));
      renameSync(join(cwd, ".my.yaml.swp"), join(cwd, "my.yaml"));
      expect(await waitForEvent(round + 1)).toBe("fixture ./my.yaml was edited; applied to s");
      expect(listIds(sandbox)).toEqual([`org_${name}`]);
    }
  });

  it("includes the fixtures that it extends, also new ones and those of inline fixtures [interfaces 6]", async () => {
    write("base.yaml", makeFixture("base"));
    write("late.yaml", makeFixture("late"));
    write("my.yaml", "extends: ./base.yaml\n");
    const sandbox = sandboxes.create({ name: "s", fixture: "./my.yaml" });
    const inline = sandboxes.create({
      name: "i",
      fixture: { extends: "./base.yaml", organizations: [{ id: "org_i" }] },
    });
    await start();
    write("base.yaml", makeFixture("base", "more"));
    await waitForEvent(2);
    expect(listIds(sandbox)).toEqual(["org_base", "org_more"]);
    expect(listIds(inline)).toEqual(["org_base", "org_i", "org_more"]);
    write("my.yaml", "extends: ./late.yaml\n");
    await waitForEvent(3);
    expect(listIds(sandbox)).toEqual(["org_late"]);
    write("late.yaml", makeFixture("later"));
    await waitForEvent(4);
    expect(listIds(sandbox)).toEqual(["org_later"]);
    // A broken base is reported as itself; once it is fixed, the fixtures that extend it change.
    write("late.yaml", "organizations: [");
    expect(await waitForEvent(5)).toMatch(/^late.yaml:/);
    write("late.yaml", makeFixture("fixed"));
    await waitForEvent(6);
    expect(listIds(sandbox)).toEqual(["org_fixed"]);
  });

  it.each(["late", "./late.json", "./folder/late.yaml"])(
    "is read again when the file that it extends by %s is created [interfaces 6]",
    async (name) => {
      mkdirSync(join(cwd, "folder"));
      write("my.yaml", makeFixture("a"));
      const sandbox = sandboxes.create({ name: "s", fixture: "./my.yaml" });
      await start();
      write("my.yaml", `extends: ${name}\n`);
      expect(await waitForEvent(1)).toMatch(/^my.yaml:1:10: there is no /);
      await watch?.waitUntilReady();
      const file = name === "late" ? "late.yaml" : name;
      write(file, '{ "organizations": [{ "id": "org_late" }] }');
      expect(await waitForEvent(2)).toBe("fixture ./my.yaml was edited; applied to s");
      expect(listIds(sandbox)).toEqual(["org_late"]);
    },
  );

  it("is also watched if it is first used later [interfaces 6]", async () => {
    await start();
    write("my.yaml", makeFixture("a"));
    const sandbox = sandboxes.create({ name: "s", fixture: "./my.yaml" });
    // The watch of the folder begins only now, so the file is edited until the change is seen.
    const edit = setInterval(() => write("my.yaml", makeFixture("a", `b${events.length}`)), 150);
    try {
      await waitForEvent(1);
    } finally {
      clearInterval(edit);
    }
    expect(listIds(sandbox)).toHaveLength(2);
  });
});
