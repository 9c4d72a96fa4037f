import type { ScenarioLibrary } from "../../documents/scenario-library.ts";
import { CONNECTION_HEADER } from "../../engine/contract/header-fields.ts";
import type { Faults } from "../../engine/faults/faults.ts";
import { RefusalScenarios } from "../../engine/faults/refusal-scenarios.ts";
import { toPairs } from "../../engine/maps.ts";
import { BASE_HEADER } from "../../engine/pipeline/plain-http.ts";
import { apiKeys } from "../../engine/resources/api-keys/schema.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { deriveRequestIdSeed, drawRequestId } from "../../engine/state/random.ts";
import { findRawHeader } from "../har/har-entry.ts";
import {
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  type Bundle,
  BundleRefusal,
  type ControlStep,
  type RequestStep,
} from "./bundle.ts";
import { toRecordedAnswer, toRecordedBody } from "./recorded-message.ts";
import { type RecordedCall, type Recording, toIso } from "./recordings.ts";
import { SecretPlaceholders } from "./secret-placeholders.ts";

/**
 * Everything that `understudy replay` needs to repeat the requests and calls since a sandbox's creation or last reset.
 * @throws BundleRefusal if the journal has lost entries, or the sandbox's state does not follow from them
 */
export function makeBundle(
  sandbox: Sandbox,
  recording: Recording,
  { version, scenarios, delay }: { version: string; scenarios: ScenarioLibrary; delay: Faults["delay"] },
): Bundle {
  const { initial, calls } = recording;
  // A request refused for an invalid scenario file changed nothing, and a replay does not have the file.
  const entries = requireCompleteJournal(sandbox, recording).filter(
    (entry) => !isRefusedForInvalidFile(entry, scenarios),
  );
  const secrets = new SecretPlaceholders();
  const firstKeys = initial.fixture.buildRoot(initial.seed).tables.get(apiKeys.name)?.all() ?? [];
  for (const { id, key } of firstKeys) secrets.register(key as string, `api_key:${id}`);
  for (const [key, id] of recording.keys) secrets.register(key, `api_key:${id}`);
  const fixtureText = JSON.stringify(initial.fixture.getDocument());
  secrets.registerWritten(fixtureText);
  const serverSources = sandbox.api.resources
    .flatMap((resource) => resource.userSource ?? [])
    .filter(({ sent }) => !sent)
    .map(({ source, sha256 }) => ({ source, ...(sha256 && { sha256 }) }));
  const [sentDocument] = initial.ownResources.map((resource) => resource.userSource?.sent);
  return {
    format: BUNDLE_FORMAT,
    version: BUNDLE_VERSION,
    understudy: version,
    sandbox: sandbox.name,
    fixture: { name: initial.fixture.name, document: JSON.parse(secrets.redact(fixtureText)) },
    seed: initial.seed,
    resets: initial.resets,
    clock: {
      mode: initial.mode,
      start: toIso(initial.begin),
      ...(initial.rate === undefined ? {} : { rate: initial.rate }),
    },
    settings: { ...initial.settings },
    ...(serverSources.length > 0 && { operations: serverSources }),
    ...(sentDocument !== undefined && {
      document: JSON.parse(secrets.redact(JSON.stringify(sentDocument))) as typeof sentDocument,
    }),
    scenarios: listScenarios(scenarios, recording, entries, sandbox),
    active: [...initial.scenarios],
    ...(delay === undefined ? {} : { delay }),
    deliveries: Object.fromEntries(recording.attempts),
    steps: listSteps(sandbox, { entries, calls, secrets }),
  };
}

/** @throws BundleRefusal */
function requireCompleteJournal({ journal, held }: Sandbox, recording: Recording): readonly JournalEntry[] {
  const entries = journal.entries();
  const { initial, unrecordedRestores } = recording;
  const unrecorded =
    unrecordedRestores > 0 ? "its state does not follow from its fixture and the recorded calls" : undefined;
  const problem = recording.replayProblem ?? held.replayProblem ?? unrecorded;
  if (problem !== undefined) {
    const detail = `This sandbox cannot be put into a bundle: ${problem}`;
    throw new BundleRefusal("not-replayable", detail, "reset the sandbox and repeat the requests");
  }
  const missing = journal.lastSequence - initial.position - entries.length;
  if (missing > journal.dropped) {
    const detail = "The journal was cleared since the sandbox was created or reset";
    throw new BundleRefusal("journal-incomplete", detail, "reset the sandbox and repeat the requests");
  }
  if (missing > 0) {
    const detail = `The journal has lost ${missing} of the requests since the sandbox was created or reset`;
    const advice = journal.isEvictedBySize
      ? "reset the sandbox, and repeat fewer or smaller requests: the journal has at most 32 MB"
      : "raise the setting journal_limit, reset the sandbox, and repeat the requests";
    throw new BundleRefusal("journal-incomplete", detail, advice);
  }
  // Deliveries are in the recording.
  const requests = entries.filter(({ delivery }) => delivery === undefined);
  for (const { id, method, path, request_body, request_bytes } of requests) {
    if (request_bytes === 0 || request_body !== undefined) continue;
    const detail = `${method} ${path} (${id}) carried ${request_bytes} bytes, of which the journal keeps no copy`;
    const advice = "use uploads below 64 KB if you need a bundle";
    throw new BundleRefusal("journal-incomplete", detail, advice);
  }
  return requests;
}

/** @throws BundleRefusal for a file that can no longer be used */
function listScenarios(
  library: ScenarioLibrary,
  recording: Recording,
  entries: readonly JournalEntry[],
  { ownResources }: Pick<Sandbox, "ownResources">,
): Bundle["scenarios"] {
  const names = new Set(recording.initial.scenarios);
  for (const { call } of recording.calls) {
    if (call.operation !== "scenarios.activate") continue;
    for (const name of (call.body as { names: string[] }).names) names.add(name);
  }
  for (const entry of entries) {
    const name = readRequestedFault(entry);
    if (name !== undefined && library.has(name)) names.add(name);
  }
  // A replay derives these again.
  const derived = new RefusalScenarios(ownResources.flatMap(({ operations }) => operations));
  return [...names]
    .filter((name) => !derived.has(name) || library.hasWritten(name))
    .map((name) => {
      try {
        return { name, document: { ...library.get(name).document, name } };
      } catch {
        const detail = `The file of the scenario ${name} can no longer be used`;
        throw new BundleRefusal("not-replayable", detail, "put it back as it was");
      }
    });
}

function isRefusedForInvalidFile(entry: JournalEntry, library: ScenarioLibrary): boolean {
  if (entry.decision !== "fault:header/refused") return false;
  const name = readRequestedFault(entry);
  return name !== undefined && library.has(name) && !library.isUsable(name);
}

/** The code or scenario that a request asked for by its own header. */
function readRequestedFault({ request_headers }: JournalEntry): string | undefined {
  return findRawHeader(request_headers, "x-sandbox-fault")?.trim();
}

function listSteps(
  sandbox: Sandbox,
  {
    entries,
    calls,
    secrets,
  }: { entries: readonly JournalEntry[]; calls: readonly RecordedCall[]; secrets: SecretPlaceholders },
): Bundle["steps"] {
  const idSeed = deriveRequestIdSeed(sandbox.world.seed);
  const steps: Bundle["steps"] = [];
  const remainingCalls = [...calls];
  const addCallsBefore = (sequence: number) => {
    while (remainingCalls[0] !== undefined && remainingCalls[0].after < sequence)
      steps.push(toControlStep(remainingCalls.shift()!, secrets));
  };
  for (const [i, entry] of entries.entries()) {
    addCallsBefore(entry.sequence);
    // A replay draws the id again from the number of earlier requests, unless it came from another seed.
    const { id, request_number: number } = entry;
    const isNumbered = number !== undefined && drawRequestId(idSeed, number) === id;
    // Made before the answer registers its secrets: the request can only contain those of earlier answers.
    const request = { ...(isNumbered && { number }), ...describeRequest(entry, sandbox, secrets) };
    steps.push({ request, answer: toRecordedAnswer(entry, i + 1, secrets) });
  }
  addCallsBefore(Number.POSITIVE_INFINITY);
  return steps;
}

function describeRequest(
  entry: JournalEntry,
  sandbox: Sandbox,
  secrets: SecretPlaceholders,
): RequestStep["request"] {
  const headers = toPairs(entry.request_headers)
    .filter(([name]) => !CONNECTION_HEADER.test(name) && name.toLowerCase() !== BASE_HEADER)
    .map(([name, value]): [string, string] => [name, secrets.redactHeader(name, value)]);
  const body = toRecordedBody(
    entry.request_body,
    secrets,
    findRawHeader(entry.request_headers, "content-type"),
  );
  const query = entry.query === "" ? "" : `?${entry.query}`;
  const prefix = sandbox.name === "default" ? "" : `/_s/${sandbox.name}`;
  return {
    at: toIso(entry.at),
    ...((entry.committed_at ?? 0) > entry.at && { committed: toIso(entry.committed_at!) }),
    method: entry.method,
    target: secrets.redactTarget(prefix + entry.path + query),
    headers,
    ...(entry.base_url !== undefined && { base_url: entry.base_url }),
    ...(body !== undefined && { body }),
  };
}

function toControlStep(
  { call, now, changed, hasHistoryEntry }: RecordedCall,
  secrets: SecretPlaceholders,
): ControlStep {
  const { operation, method, path, body, status } = call;
  // Secrets of earlier answers are registered already, and keep the answers' names.
  secrets.registerWritten(JSON.stringify(body ?? null));
  return {
    control: {
      operation,
      method,
      path: secrets.redactTarget(path),
      ...(body !== undefined && { body: secrets.redact(JSON.stringify(body)) }),
      status,
      now: toIso(now),
      changed: toIso(changed),
      ...(hasHistoryEntry && { history: true }),
    },
  };
}
