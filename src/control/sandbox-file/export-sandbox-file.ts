import { toPairs } from "../../engine/maps.ts";
import { type JournalEntry, toBodyText } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { SandboxValue } from "../../engine/sandbox/sandbox-value.ts";
import { encodeStates } from "../../engine/sandbox/stored-states.ts";
import { readClock } from "../../engine/state/clock.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import { keepReadable, type Root } from "../../engine/state/tables.ts";
import { encodeTables, type TableDocument } from "../../engine/state/world-document.ts";
import { type SavedWorld, toFacts } from "../../persistence/sandbox-rows.ts";
import { toRecordedBody } from "../../tools/bundle/recorded-message.ts";
import { SecretPlaceholders } from "../../tools/bundle/secret-placeholders.ts";
import { findRawHeader } from "../../tools/har/har-entry.ts";
import type { ControlServer } from "../operation.ts";
import { packSandboxFile, type SandboxFile, type StoredExchange } from "./sandbox-file.ts";

/** Exports a whole sandbox as one file (interfaces.md 19). In the file, secrets are replaced and the clock is frozen. */
export async function exportSandboxFile(
  sandbox: Sandbox,
  { scenarios, sandboxes, version }: Pick<ControlServer, "scenarios" | "sandboxes" | "version">,
): Promise<Uint8Array> {
  const { name, journal, snapshots } = sandbox;
  const value = sandbox.toValue();
  try {
    // All parts are read before the uploads, during which other requests change the sandbox.
    const content = toContent(sandbox, value, scenarios);
    const { dropped } = journal;
    const entries = journal.entries();
    const secretKeys = [value, ...snapshots.values()].map(({ world }) => world.secretKey);
    secretKeys.push(...content.states.environments.map(({ secretKey }) => secretKey));
    if (value.blobs !== undefined) content.uploads = await sandboxes.blobs.encode(value.blobs);
    const text = JSON.stringify(content);
    const secrets = collectSecrets(secretKeys, text, entries);
    return packSandboxFile({ understudy: version, name }, secrets.redact(text), {
      dropped,
      entries: entries.map((entry) => toStoredExchange(entry, secrets)),
    });
  } finally {
    sandboxes.blobs.release(value.blobs);
  }
}

/** The content of the file, without the bytes of uploads; it contains secrets. */
function toContent(
  sandbox: Sandbox,
  value: SandboxValue,
  scenarios: ControlServer["scenarios"],
): SandboxFile["content"] {
  const { source, created_at, fixture, seed, settings, resets, start, faults, history, snapshots } = sandbox;
  const base = source.buildRoot(seed);
  const { collections } = sandbox.api;
  // The OpenAPI document that this sandbox got for itself; those of the whole server are in `operations` below.
  const ownSource = sandbox.ownResources[0]?.userSource;
  const { about, entries } = history.toSnapshot();
  return {
    saved: {
      about: { created_at, fixture, seed, settings, resets, start, snapshots: [...snapshots.keys()] },
      fixture: { name: fixture, document: source.getDocument() },
      ...(ownSource?.sent && { operations: ownSource.sent }),
      faults: faults.toState(),
      present: toSavedWorld(value, collections, base),
      snapshots: Object.fromEntries(
        [...snapshots].map(([snapshot, saved]) => [snapshot, toSavedWorld(saved, collections, base)]),
      ),
      history: {
        about,
        entries: [...entries.keys()].map((entry) => ({ ...entry.toJSON(), journal: entry.journal_position })),
      },
    },
    states: encodeStates(history, base, collections),
    scenarios: faults.rules.scenarios.flatMap((scenario) => {
      const usable = scenarios.has(scenario) ? scenarios.getLastGood(scenario) : undefined;
      // Those without a file are derived from the operations again.
      return usable?.file === undefined ? [] : [{ name: scenario, document: usable.document }];
    }),
    operations: sandbox.api.resources.flatMap((one) =>
      one.userSource && !one.userSource.sent ? [one.userSource] : [],
    ),
  };
}

function collectSecrets(
  secretKeys: readonly string[],
  text: string,
  entries: readonly JournalEntry[],
): SecretPlaceholders {
  const secrets = new SecretPlaceholders();
  for (const secretKey of secretKeys) secrets.registerGiven(secretKey);
  secrets.registerIn(text);
  for (const { request_headers, response_headers, request_body, response_body } of entries) {
    secrets.registerIn([...request_headers, ...response_headers].join("\n"));
    for (const body of [request_body, response_body]) secrets.registerIn(toBodyText(body));
  }
  return secrets;
}

function toSavedWorld(value: SandboxValue, collections: readonly AnyCollection[], base: Root): SavedWorld {
  const facts = toFacts(value) as SavedWorld["facts"];
  const { clock } = value.world;
  const tables = Object.entries(encodeTables(keepReadable(value.world.root, collections), base)).map(
    ([name, table]) => [name, toDifference(table)],
  );
  const now = readClock(clock, Math.max(clock.wall, Date.now()));
  return {
    facts: {
      ...facts,
      clock: { mode: "frozen", rate: 0, wall: clock.wall, now: clock.rate === 0 ? clock.at : now },
    },
    windows: value.windows.toJSON(),
    uploads: undefined,
    tables: Object.fromEntries(tables),
  };
}

function toDifference(table: TableDocument): SavedWorld["tables"][string] {
  return "records" in table
    ? { put: [...table.records], removed: [] }
    : { put: [...table.put], removed: [...table.removed] };
}

function toStoredExchange(
  { timelineEntry, revision: _revision, bytes: _bytes, ...exchange }: JournalEntry,
  secrets: SecretPlaceholders,
): StoredExchange {
  const { path, query, request_headers, response_headers, request_body, response_body } = exchange;
  const redactHeaders = (headers: readonly string[]) =>
    toPairs(headers).flatMap(([name, value]) => [name, secrets.redactHeader(name, value)]);
  const [redactedPath, ...search] = secrets.redactTarget(query === "" ? path : `${path}?${query}`).split("?");
  const findType = (headers: readonly string[]) => findRawHeader(headers, "content-type");
  return {
    ...exchange,
    seq: timelineEntry.number,
    path: redactedPath!,
    query: search.join("?"),
    reasons: exchange.reasons.map((text) => secrets.redact(text)),
    warnings: exchange.warnings.map((text) => secrets.redact(text)),
    request_headers: redactHeaders(request_headers),
    response_headers: redactHeaders(response_headers),
    request_body: toRecordedBody(request_body, secrets, findType(request_headers)),
    response_body: toRecordedBody(response_body, secrets, findType(response_headers)),
  };
}
