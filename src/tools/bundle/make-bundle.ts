import type { ScenarioLibrary } from "../../documents/scenario-library.ts";
import type { Faults } from "../../engine/faults/faults.ts";
import { apiKeys } from "../../engine/resources/api-keys/schema.ts";
import { bodyText, type JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { drawRequestId, requestIdSeed } from "../../engine/state/random.ts";
import type { Root } from "../../engine/state/tables.ts";
import {
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  type Bundle,
  BundleRefusal,
  type ControlStep,
  type RequestStep,
} from "./bundle.ts";
import { recordedAnswer, recordedBody } from "./recorded-message.ts";
import type { RecordedCall, Recording } from "./recordings.ts";
import { Vault } from "./vault.ts";

/**
 * Everything that `understudy replay` needs to do again what happened to a sandbox since its first day.
 * @throws BundleRefusal when the journal has lost entries, or the sandbox's present does not follow from them
 */
export function makeBundle(
  sandbox: Sandbox,
  recording: Recording,
  {
    version,
    scenarios: library,
    delay,
  }: { version: string; scenarios: ScenarioLibrary; delay: Faults["delay"] },
): Bundle {
  const { first, calls } = recording;
  // Refused for a file that is wrong, a request has changed nothing, and no replay would find that file.
  const entries = completeJournal(sandbox, recording).filter((entry) => !isRefusedForFile(entry, library));
  const vault = new Vault();
  for (const root of rootsOf(sandbox, recording)) {
    for (const { id, key } of root.tables.get(apiKeys.name)?.all() ?? [])
      vault.know(key as string, `api_key:${id}`);
  }
  const document = first.fixture.document();
  const fixtureText = JSON.stringify(document);
  vault.learnGiven(fixtureText);
  const { active, scenarios } = scenariosOf(library, recording, entries);
  return {
    format: BUNDLE_FORMAT,
    version: BUNDLE_VERSION,
    understudy: version,
    sandbox: sandbox.name,
    fixture: { name: first.fixture.name, document: JSON.parse(vault.sent(fixtureText)) },
    seed: first.seed,
    resets: first.resets,
    clock: {
      mode: first.mode,
      start: iso(first.begin),
      ...(first.rate === undefined ? {} : { rate: first.rate }),
    },
    settings: { ...first.settings },
    scenarios,
    active: [...active],
    ...(delay === undefined ? {} : { delay }),
    deliveries: deliveriesOf(recording),
    steps: stepsOf(sandbox, { entries, calls, vault }),
  };
}

/** @throws BundleRefusal */
function completeJournal({ journal }: Sandbox, recording: Recording): readonly JournalEntry[] {
  const entries = journal.entries();
  const { first, calls, restores } = recording;
  const unfit = recording.unfit ?? unexplained(calls, restores);
  if (unfit !== undefined) {
    const detail = `This sandbox cannot be put into a bundle: ${unfit}`;
    throw new BundleRefusal("not-replayable", detail, "reset it and let the requests come again");
  }
  const missing = journal.lastSequence - first.position - entries.length;
  if (missing > 0) {
    const detail = `The journal has lost ${missing} of the requests since the sandbox's first day`;
    throw new BundleRefusal(
      "journal-incomplete",
      detail,
      "raise the setting journal_limit, reset, and let them come again",
    );
  }
  // What went out of the sandbox, the recording tells.
  const requests = entries.filter(({ delivery }) => delivery === undefined);
  for (const entry of requests) requireWholeBody(entry);
  return requests;
}

function unexplained(calls: readonly RecordedCall[], restores: number): string | undefined {
  if (restores > 0) return "its state came from somewhere else than its fixture and the recorded calls";
  const kept = new Set<string>();
  for (const { call } of calls) {
    const [, snap] = /^\/snapshots\/([^/?]+)/.exec(call.path) ?? [];
    if (call.operation === "snapshots.save") kept.add((call.body as { name: string }).name);
    if (call.operation === "snapshots.restore" && !kept.has(snap!))
      return `it went back to the snapshot ${snap}, which was not saved since its first day`;
  }
  return undefined;
}

/** @throws BundleRefusal */
function requireWholeBody({ id, method, path, request_body, request_bytes }: JournalEntry): void {
  if (request_bytes === 0 || request_body !== undefined) return;
  throw longBody(`${method} ${path} (${id})`, request_bytes);
}

function longBody(request: string, bytes: number): BundleRefusal {
  const detail = `${request} carried ${bytes} bytes, of which the journal keeps no copy`;
  return new BundleRefusal(
    "journal-incomplete",
    detail,
    "upload something smaller than 64 KB where a bundle is wanted",
  );
}

/** Where keys may stand that requests were made with. */
function rootsOf({ world, snapshots }: Sandbox, { first }: Recording): Root[] {
  const kept = [...snapshots.values()].map((value) => value.world.root);
  return [first.fixture.root(first.seed), ...kept, world.root];
}

function scenariosOf(library: ScenarioLibrary, recording: Recording, entries: readonly JournalEntry[]) {
  const active = recording.first.scenarios;
  const names = new Set(active);
  for (const { call } of recording.calls) {
    if (call.operation !== "scenarios.activate") continue;
    for (const name of (call.body as { names: string[] }).names) names.add(name);
  }
  for (const entry of entries) {
    const name = faultAskedBy(entry);
    if (name !== undefined && library.has(name)) names.add(name);
  }
  const scenarios = [...names].map((name) => ({ name, document: { ...documentOf(name, library), name } }));
  return { active, scenarios };
}

function isRefusedForFile(entry: JournalEntry, library: ScenarioLibrary): boolean {
  if (entry.decision !== "fault:header/refused") return false;
  const name = faultAskedBy(entry);
  return name !== undefined && library.has(name) && !library.isUsable(name);
}

/** What a request asked for by its own header, be it a code or a scenario's name. */
function faultAskedBy({ request_headers }: JournalEntry): string | undefined {
  const at = request_headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === "x-sandbox-fault");
  return at < 0 ? undefined : request_headers[at + 1]?.trim();
}

/** @throws BundleRefusal */
function documentOf(name: string, library: ScenarioLibrary): object {
  try {
    return library.get(name).document;
  } catch {
    throw new BundleRefusal(
      "not-replayable",
      `The file of the scenario ${name} can no longer be used`,
      "put it back as it was",
    );
  }
}

function deliveriesOf({ attempts }: Recording): Bundle["deliveries"] {
  const told = [...attempts].map(([delivery_id, ends]) => [
    delivery_id,
    ends.map(({ response_code, ended_at }) => ({
      response_code,
      ...(ended_at === undefined ? {} : { ended_at: iso(ended_at) }),
    })),
  ]);
  return Object.fromEntries(told);
}

interface Happened {
  entries: readonly JournalEntry[];
  calls: readonly RecordedCall[];
  vault: Vault;
}

function stepsOf(sandbox: Sandbox, { entries, calls, vault }: Happened): Bundle["steps"] {
  const idSeed = requestIdSeed(sandbox.world.seed);
  const steps: Bundle["steps"] = [];
  const waiting = [...calls];
  let position = 0;
  const until = (sequence: number) => {
    while (waiting[0] !== undefined && waiting[0].after < sequence)
      steps.push(controlStep(waiting.shift()!, vault));
  };
  for (const entry of entries) {
    until(entry.sequence);
    // First the request, which may only carry what earlier answers gave out; then its answer.
    const request = requestOf(entry, { number: numberUnder(idSeed, entry), sandbox, vault });
    steps.push({ request, answer: recordedAnswer(entry, ++position, vault) });
  }
  until(Number.POSITIVE_INFINITY);
  return steps;
}

/** How many requests had come before it; undefined where its id was drawn of another seed. */
function numberUnder(idSeed: number, { id, number }: JournalEntry): number | undefined {
  return number !== undefined && drawRequestId(idSeed, number) === id ? number : undefined;
}

const HOP_BY_HOP = new Set([
  ...[
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
  ],
  "content-length",
]);

function requestOf(
  entry: JournalEntry,
  { number, sandbox, vault }: { number: number | undefined; sandbox: Sandbox; vault: Vault },
): RequestStep["request"] {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < entry.request_headers.length; i += 2) {
    const name = entry.request_headers[i]!;
    const value = entry.request_headers[i + 1]!;
    if (!HOP_BY_HOP.has(name.toLowerCase())) headers.push([name, vault.sentHeader(name, value)]);
  }
  const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const body = recordedBody(entry.request_body, vault, type);
  const target = prefixOf(sandbox.name, entry) + entry.path + (entry.query === "" ? "" : `?${entry.query}`);
  return {
    ...(number === undefined ? {} : { number }),
    at: iso(entry.at),
    ...((entry.committed_at ?? 0) > entry.at ? { committed: iso(entry.committed_at!) } : {}),
    method: entry.method,
    target: vault.sentTarget(target),
    headers,
    ...(body === undefined ? {} : { body }),
  };
}

/** The journal leaves the prefix away; of `default` it only shows in URLs that were handed out. */
function prefixOf(name: string, { response_body }: JournalEntry): string {
  const prefix = `/_s/${name}`;
  return name !== "default" || bodyText(response_body).includes(`${prefix}/`) ? prefix : "";
}

function controlStep({ call, now, changed, history }: RecordedCall, vault: Vault): ControlStep {
  const { operation, method, path, body, status } = call;
  // In its turn: what an answer before it handed out is known by that answer.
  vault.learnGiven(JSON.stringify(body ?? null));
  const text = body === undefined ? {} : { body: vault.sent(JSON.stringify(body)) };
  return {
    control: {
      operation,
      method,
      path: vault.sentTarget(path),
      ...text,
      status,
      now: iso(now),
      changed: iso(changed),
      ...(history && { history }),
    },
  };
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
