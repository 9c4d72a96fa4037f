import { Type } from "typebox";
import type { StateRef, WorldChange } from "../../src/engine/sandbox/history-entry.ts";
import { toMinute } from "../../src/engine/sandbox/rate-windows.ts";
import { SandboxRegistry } from "../../src/engine/sandbox/registry.ts";
import type { Sandbox } from "../../src/engine/sandbox/sandbox.ts";
import { collection } from "../../src/engine/state/collection.ts";
import { Tables } from "../../src/engine/state/tables.ts";
import { timers } from "../../src/engine/state/timers.ts";
import type { World } from "../../src/engine/state/world.ts";
import type { WorldParts } from "../../src/engine/state/world-parts.ts";
import { completeParts } from "./registry-parts.ts";

interface Note {
  id: string;
  text: string;
}
export const notes = collection<Note>({
  name: "notes",
  prefix: "note_",
  idField: "id",
  schema: Type.Object({}),
});
const START = Date.parse("2026-03-15T12:00:00.000Z");
/** A small limit of history entries. */
export const LIMIT = 5;

/** A retry schedules another timer, which schedules none. */
const timerHandlers: WorldParts["timerHandlers"] = {
  "webhook.retry": (tx, { subject, due }) => tx.schedule({ kind: "expiry", subject, due: due + 20_000 }),
  expiry: (tx, { subject, due }) => void tx.put(notes, { id: subject, text: `due ${due}` }),
};

export function makeSandbox(history_limit: number): Sandbox {
  const root = { tables: Tables.empty([notes, timers]), draws: 0 };
  const registry = new SandboxRegistry(
    completeParts({
      fixtures: {
        load: () => ({
          name: "rows",
          getDocument: () => ({}),
          getMinimumRecordCount: () => 0,
          buildRoot: () => root,
        }),
      },
      defaults: { fixture: "rows", seed: 1, clock: { mode: "frozen", now: START }, settings: {} },
      wallClock: () => START,
      worldParts: () => ({ timerHandlers, onEmit() {}, onCommit() {} }),
    }),
  );
  return registry.create({ name: "a", settings: { history_limit } });
}

/** Returns all state of a sandbox at an earlier moment. */
export function readState({ history }: Sandbox, moment: StateRef): object {
  const { version, now, requests, windows, counted, environment } = moment;
  const { tables, draws } = history.versions.getRoot(version)!;
  const rows = [...tables.get("notes")!.all()];
  const due = [...tables.get(timers.name)!.all()];
  const { uploads } = environment;
  return { rows, due, draws, now, requests, windows: [...windows.entries()], counted, uploads };
}

/** Creates a change that looks like a request, without a client. */
export function makeRequest(world: World, key?: string): WorldChange {
  const counted = key === undefined ? undefined : { key_id: key, minute: toMinute(world.epochNow()) };
  const request = {
    ...{ idSeed: -7, number: world.requests++, counted, upload: undefined },
  };
  const title = `${key ?? "An anonymous client"}: Write a note.`;
  return { kind: "request", title, subject: undefined, request };
}
