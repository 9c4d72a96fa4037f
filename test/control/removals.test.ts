import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findReferences, visitReferences } from "../../src/engine/contract/references.ts";
import { removeWithDependents } from "../../src/engine/contract/removal.ts";
import type { StateRules } from "../../src/engine/contract/resource.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { API, RESOURCES } from "../../src/engine/resources/index.ts";
import type { AnyCollection } from "../../src/engine/state/collection.ts";
import type { Root } from "../../src/engine/state/tables.ts";
import { timers } from "../../src/engine/state/timers.ts";
import { Transaction } from "../../src/engine/state/transaction.ts";
import { type Api, EPOCH, KEYS, startReference } from "../support/harness.ts";
import { FreshWorld } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { addRuntimeRecords } from "../support/runtime-records.ts";

const COLLECTIONS: readonly AnyCollection[] = RESOURCES.flatMap(({ collections }) => collections);
const RULES = Object.assign({}, ...RESOURCES.map(({ state = {} }) => state)) as Record<
  string,
  // biome-ignore lint/suspicious/noExplicitAny: rules of every record type
  StateRules<any>
>;

let api: Api;
let root: Root;
beforeAll(async () => {
  api = await startReference();
  const tx = api.understudy.sandboxes.get("default")!.world.read();
  addRuntimeRecords(tx);
  root = tx.toRoot();
});
afterAll(() => api.close());

/** Opens a transaction that is never committed, so that each deletion starts from the same world. */
function open(from: Root = root): Transaction {
  return new Transaction(from, { origin: Date.parse(EPOCH), now: 0, seed: 1, secretKey: "test" });
}

/** Deletes a record as DELETE of the control API does. */
function removeRecord(collection: AnyCollection, id: string): Root {
  const tx = open();
  const actor = { user_id: undefined, silent: false, settings: DEFAULT_SETTINGS };
  RULES[collection.name]?.beforeRemove?.(tx, tx.get(collection, id), actor);
  removeWithDependents(tx, collection, id);
  return tx.toRoot();
}

/** Lists the deleted records as `collection id`, except timers and queued work. */
function listRemoved(before: Root, after: Root): Set<string> {
  const gone = new Set<string>();
  for (const { name } of COLLECTIONS) {
    for (const change of before.tables.get(name)!.listChangesTo(after.tables.get(name)!))
      if (change.after === undefined) gone.add(`${name} ${change.id}`);
  }
  return gone;
}

/** References of a record: the owners' ids with their paths, and texts that may be ids. */
interface References {
  owned: { key: string; path: string }[];
  /** Texts, except references that may outlive their targets. */
  texts: string[];
}

/** Cached, since records are immutable and most are in all worlds of this test. */
const references = new WeakMap<object, References>();

function listReferences(schema: object, record: object): References {
  const known = references.get(record);
  if (known !== undefined) return known;
  const owned: References["owned"] = [];
  const mentioned = new Set<string>();
  visitReferences(schema, record, ({ reference, id, path }) => {
    if (!reference.owned) mentioned.add(id);
    else owned.push({ key: `${reference.collection} ${id}`, path: path.join(".") });
  });
  const texts = [...new Set(listTexts(record))].filter((text) => !mentioned.has(text));
  references.set(record, { owned, texts });
  return { owned, texts };
}

/** Lists what still refers to deleted records: owned references, texts that equal their ids, timers. */
function listRemains(after: Root, gone: ReadonlySet<string>): string[] {
  const found: string[] = [];
  // Some records have the id of their owner, which may still exist.
  const isStored = (id: string) =>
    COLLECTIONS.some(({ name }) => after.tables.get(name)!.get(id) !== undefined);
  const all = new Set([...gone].map((key) => key.slice(key.indexOf(" ") + 1)));
  const ids = new Set([...all].filter((id) => !isStored(id)));
  for (const collection of COLLECTIONS) {
    // Logs and sent emails may mention deleted records.
    const remembers = collection.prefix === "log_" || collection.name === "_emails";
    for (const record of after.tables.get(collection.name)!.all() as Iterable<object>) {
      const { owned, texts } = listReferences(collection.schema, record);
      const name = () => `${collection.name} ${collection.getId(record)}`;
      for (const { key, path } of owned)
        if (gone.has(key)) found.push(`${name()}: ${path} belongs to ${key}`);
      if (remembers) continue;
      for (const text of texts) if (ids.has(text)) found.push(`${name()} names ${text}`);
    }
  }
  for (const { id, subject, key } of open(after).all(timers))
    if (ids.has(subject) || ids.has(key ?? subject)) found.push(`timer ${id}`);
  return found;
}

function* listTexts(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) {
      yield key;
      yield* listTexts(inner);
    }
}

describe("a deletion", () => {
  it("is tested with dependents for each kind of record [G37]", () => {
    const idle = COLLECTIONS.filter(
      ({ name, schema }) =>
        findReferences(schema).some(({ owned }) => owned) && root.tables.get(name)!.size === 0,
    );
    expect(idle.map(({ name }) => name)).toEqual([]);
    const kinds = COLLECTIONS.filter(({ name, timer }) => timer !== undefined && ownsRecord(name, timer));
    expect(kinds.map(({ name }) => name)).toEqual(
      COLLECTIONS.filter(({ timer }) => timer !== undefined).map(({ name }) => name),
    );
  });

  it.each(
    COLLECTIONS.filter(({ internal }) => !internal).map(
      (collection) => [collection.name, collection] as const,
    ),
  )(
    "of a record of %s deletes all its dependents, timers too, and nothing else [G37, interfaces 4]",
    (name, collection) => {
      for (const record of sample(collection)) {
        const id = collection.getId(record);
        const after = removeRecord(collection, id);
        const gone = listRemoved(root, after);
        expect(gone).toContain(`${name} ${id}`);
        expect(listRemains(after, gone), id).toEqual([]);
        for (const key of gone)
          expect(belongsToRemoved(key, gone, `${name} ${id}`), `${key} goes with ${id}`).toBe(true);
      }
    },
  );

  it.each(
    API.operations
      .filter(({ method }) => method === "DELETE")
      .map((operation) => [operation.id, operation] as const),
  )("by %s leaves no dependent of a deleted record [G37]", async (id, operation) => {
    const world = await FreshWorld.create(api);
    const sent = await RECIPES[id]![0]!.request(world);
    const sandbox = api.understudy.sandboxes.get(world.name)!;
    const before = sandbox.world.root;
    expect((await world.call(operation.path, operation.method, sent)).status).toBeLessThan(500);
    expect(listRemains(sandbox.world.root, listRemoved(before, sandbox.world.root))).toEqual([]);
    await world.delete();
  });
});

describe("a new record with the id of a deleted one", () => {
  const callState = (world: FreshWorld, method: string, path: string, body?: unknown) =>
    world.control(method, `/state/${path}`, body);
  const listTracks = (world: FreshWorld, headers: Record<string, string>) =>
    world.call("/v1/music/org_acme/collections/mcoll_empty/tracks", "GET", { headers });

  it("has no session, renewal or spent rate of the deleted API key [G37, G01, G07]", async () => {
    const world = await FreshWorld.create(api);
    const { body: grant } = await world.call("/v1/auth/token", "POST", { who: "dan" });
    const bearer = { authorization: `Bearer ${grant.access_token}` };
    expect((await listTracks(world, bearer)).status).toBe(200);
    const { body: key } = await callState(world, "GET", "api_keys/apikey_dan");
    await callState(world, "DELETE", "api_keys/apikey_dan");
    await callState(world, "POST", "api_keys", key);
    expect((await listTracks(world, bearer)).status).toBe(401);
    const renewal = { body: { refresh_token: grant.refresh_token } };
    expect((await world.call("/v1/auth/refresh", "POST", renewal)).status).toBe(401);
    const fresh = await listTracks(world, { "api-key": key.key });
    expect([fresh.status, fresh.headers.get("x-ratelimit-remaining")]).toEqual([200, "999"]);
    await world.delete();
  });

  it("has no members, spending, webhooks, links or uploads of the deleted organization [G37]", async () => {
    const world = await FreshWorld.create(api);
    const upload = await world.upload(5);
    const { body: organization } = await callState(world, "GET", "organizations/org_acme");
    await callState(world, "DELETE", "organizations/org_acme");
    const { world: present } = api.understudy.sandboxes.get(world.name)!;
    expect(present.listPending().filter(({ kind }) => kind !== "lease")).toEqual([]);
    await callState(world, "POST", "organizations", organization);
    const eve = { who: "eve" as const, params: { org_id: "org_acme" } };
    expect((await world.call("/v1/analytics/usage/limits/{org_id}", "GET", eve)).status).toBe(403);
    const { path, query } = upload;
    const put = await api.call(undefined, "PUT", `${path}?${query}`, "hello", {
      "content-type": "text/plain",
    });
    expect(put.status).toBe(404);
    expect((await world.call("/v1/dashboards/shared/revenue-board", "GET", {})).status).toBe(404);
    for (const name of [
      "departments",
      "webhooks",
      "deliveries",
      "usage",
      "audit_logs",
      "messages",
      "tracks",
    ]) {
      const { items } = (await callState(world, "GET", `${name}?limit=100`)).body;
      expect(
        items.filter((item: object) => JSON.stringify(item).includes("org_acme")),
        name,
      ).toEqual([]);
    }
    await world.delete();
  });

  it("has nothing of the deleted meeting session, whose streams have ended [G37, G16]", async () => {
    const world = await FreshWorld.create(api);
    const path = `${world.prefix}/v1/meeting-buddy/sessions/mbsess_live/transcripts/stream`;
    const open = await fetch(api.url + path, { headers: { "api-key": KEYS.dan } });
    const whole = open.text();
    const { body: session } = await callState(world, "GET", "meeting_sessions/mbsess_live");
    await callState(world, "DELETE", "meeting_sessions/mbsess_live");
    expect(await whole).toContain("data:");
    const refused = await fetch(api.url + path, { headers: { "api-key": KEYS.dan } });
    expect(refused.status).toBe(404);
    await callState(world, "POST", "meeting_sessions", session);
    await callState(world, "PATCH", "meeting_sessions/mbsess_live", { status: "completed" });
    const stream = await fetch(api.url + path, { headers: { "api-key": KEYS.dan } });
    expect(await stream.text()).not.toContain("data:");
    await world.delete();
  });

  it("inherits nothing as a transcript entry: its stream sends it once, at its new position [G37, G16]", async () => {
    const world = await FreshWorld.create(api);
    const { items } = (await callState(world, "GET", "meeting_transcripts?session_id=mbsess_standup&limit=1"))
      .body;
    const [{ transcript_id }] = items;
    await callState(world, "DELETE", `meeting_transcripts/${transcript_id}`);
    await callState(world, "POST", "meeting_transcripts", { ...items[0], text: "Said anew." });
    const stream = await world.call("/v1/meeting-buddy/sessions/mbsess_standup/transcripts/stream", "GET", {
      who: "dan",
    });
    const lines = stream.text.split("\n").filter((line) => line.includes(transcript_id));
    expect(lines).toEqual([expect.stringContaining("Said anew.")]);
    await world.delete();
  });
});

function ownsRecord(name: string, kind: string): boolean {
  const ids = open();
  const table = root.tables.get(name)!;
  return [...ids.all(timers)].some((timer) => timer.kind === kind && table.get(timer.key ?? timer.subject));
}

/** Returns the first and last records of a collection and some in between, at equal distances. */
function sample(collection: AnyCollection, most = 8): object[] {
  const table = root.tables.get(collection.name)!;
  const step = Math.max(1, table.size / most);
  const places = Array.from({ length: Math.min(most, table.size) }, (_, at) => Math.floor(at * step));
  return places.map((place) => table.all().page(place, 1)[0] as object);
}

/** Returns whether a deleted record belonged, by its declared references, to another deleted one. */
function belongsToRemoved(key: string, gone: ReadonlySet<string>, cause: string): boolean {
  if (key === cause) return true;
  const [name, id] = [key.slice(0, key.indexOf(" ")), key.slice(key.indexOf(" ") + 1)];
  const { schema } = COLLECTIONS.find((collection) => collection.name === name)!;
  // The usage of a key (`org_x:apikey_y`) is part of its organization's.
  let found = name === "usage" && id.includes(":") && gone.has(`usage ${id.split(":")[0]}`);
  visitReferences(schema, root.tables.get(name)!.get(id), ({ reference, id: owner }) => {
    found ||= reference.owned && gone.has(`${reference.collection} ${owner}`);
  });
  return found;
}
