import { cpSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { Sandbox } from "../../../src/engine/sandbox/sandbox.ts";
import type { SandboxValue } from "../../../src/engine/sandbox/sandbox-value.ts";
import { encodeWorld, type TableDocument } from "../../../src/engine/state/world-document.ts";
import { waitUntil } from "../eventually.ts";
import { type Api, startReference } from "../harness.ts";

/** Reads all state of all sandboxes: what clients see, and internal values that affect what they see later. */
export async function readEverything({ understudy, call }: Api): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const sandbox of understudy.sandboxes.all()) {
    all[sandbox.name] = "there";
    // The tests do not use this sandbox.
    if (sandbox.name === "default") continue;
    await sandbox.world.whenSettled();
    const s = `/_control/sandboxes/${sandbox.name}`;
    const calls = ["", "/clock", "/clock/pending", "/faults", "/snapshots", "/outbox", "/receivers"];
    const shown = [];
    for (const path of calls) shown.push((await call(undefined, "GET", s + path)).body);
    const values = [sandbox.toValue(), ...sandbox.snapshots.values()].map((value) =>
      encodeChanges(sandbox, value),
    );
    all[sandbox.name] = normalize({ shown, values: await Promise.all(values) });
  }
  return all;
}

/** Encodes records as changes to the fixture, since all records would be megabytes. */
async function encodeChanges(
  { source, seed, blobs }: Sandbox,
  { world, windows, blobs: held }: SandboxValue,
) {
  const { tables, ...facts } = encodeWorld(world, source.buildRoot(seed));
  const changed = Object.entries(tables).filter(([, table]) => !isEmpty(table));
  return [facts, Object.fromEntries(changed), windows, await blobs.encode(held)];
}

const isEmpty = (table: TableDocument) =>
  "put" in table && table.put.length === 0 && table.removed.length === 0;

/** Replaces values that depend on the wall clock or the port. */
function normalize(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, one) =>
      key === "duration_ms" || key === "error" || key === "base_url"
        ? "-"
        : typeof one === "string"
          ? one.replaceAll(/127\.0\.0\.1:\d+/g, "HOST")
          : one,
    ),
  );
}

/**
 * Copies the folder `live`, as kill -9 would leave it. Expects that a server which starts from the copy shows the
 * same.
 */
export async function expectSaved(api: Api, folder: string, durable: boolean): Promise<void> {
  const [live, killed] = [join(folder, "live"), join(folder, "killed")];
  // SQLite may write while the files are copied one by one, which a process that is killed cannot leave behind.
  const listChanges = () =>
    readdirSync(live).map((name) => statSync(join(live, name), { bigint: true }).mtimeNs);
  await waitUntil(() => {
    const before = listChanges();
    rmSync(killed, { recursive: true, force: true });
    cpSync(live, killed, { recursive: true });
    return isDeepStrictEqual(listChanges(), before);
  });
  const again = await startReference({ persist: { folder: killed, durable } });
  try {
    const [before, after] = [await readEverything(api), await readEverything(again)];
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
    expect(after).toEqual(before);
  } finally {
    await again.close();
  }
}
