import Type, { type Static } from "typebox";
import { parseDuration } from "../../contract/duration.ts";
import { parseDateOrInstant } from "../../contract/instant.ts";
import { noContent, Reply, StreamBody } from "../../contract/operation.ts";
import { Closed, examplesOf, typed } from "../../contract/schema.ts";
import { users } from "../../resources/users/schema.ts";
import { webhooks } from "../../resources/webhooks/schema.ts";
import type { Journal, JournalEntry } from "../../sandbox/journal.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { checkInput } from "../check-input.ts";
import { DELIVERED_EVENTS } from "../delivered-events.ts";
import { HarBody, harOf } from "../journal/har.ts";
import { conditionsOf, type EntryMatch, type KnownWords } from "../journal/match-entry.ts";
import { JournalEntryBody, renderEntry } from "../journal/render-entry.ts";
import { nextEntry, streamJournal } from "../journal/stream-journal.ts";
import { LiveBody, streamLive } from "../journal/stream-live.ts";
import {
  boundsOf,
  Count,
  countVerifier,
  sequenceVerifier,
  VerificationBody,
  type Verify,
} from "../journal/verify-journal.ts";
import { below, type ControlOperation, type ControlServer, OfSandbox, operation, S } from "../operation.ts";
import { conflict, Problem, unprocessable } from "../problem.ts";
import { baseUrlOf } from "../sandbox-body.ts";

/** More than a journal may hold. */
const MAX_ENTRIES = 100_000;

const Status = typed(
  "StatusPattern",
  Type.Unsafe<string | number>({
    type: ["string", "integer"],
    pattern: "^[1-5](\\d\\d|xx|XX)$",
    minimum: 100,
    maximum: 599,
    title: "a status such as 404, or a class such as 4xx",
    description: "A status such as 404, or a class such as `4xx`",
  }),
);
const Text = (description: string, type = "string") =>
  Type.Optional(typed(type, Type.String({ minLength: 1, description })));

const conditions = {
  operation: Text("An operation id, or a glob of them", "OperationPattern"),
  status: Type.Optional(Status),
  code: Text("A code of the catalogue", "ErrorCode"),
  method: Text("In any case"),
  path: Text("A glob of paths, without sandbox prefix and query"),
};

/** Of attempts to deliver (interfaces 14). */
const delivered = {
  event: Text("Of deliveries: an event name, or a glob of them", "EventPattern"),
  webhook: Text("Of deliveries: the id of the webhook"),
};

const Kind = Type.Unsafe<"request" | "delivery">({
  type: "string",
  enum: ["request", "delivery"],
  description: "Only requests that came in, or only attempts to deliver events",
});

const filters = { kind: Type.Optional(Kind), ...conditions, ...delivered };

export const JournalQuery = Closed({
  ...filters,
  since: Text("An ISO 8601 date or timestamp, on the sandbox's clock"),
  limit: Type.Integer({
    minimum: 1,
    maximum: MAX_ENTRIES,
    default: MAX_ENTRIES,
    description: "How many of the newest; by default all that match",
  }),
});

export const JournalBody = Closed(
  {
    entries: Type.Array(JournalEntryBody, { description: "Newest first" }),
    total: Type.Integer({ minimum: 0, description: "How many match" }),
    dropped: Type.Integer({ minimum: 0, description: "Entries lost to the journal's bounds" }),
  },
  {
    $id: "Journal",
    examples: [{ entries: examplesOf(JournalEntryBody), total: 1, dropped: 0 }],
  },
);

const listJournal = operation({
  id: "journal.list",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/journal`,
  summary: "List requests and attempts to deliver, newest first, and why each ended as it did",
  params: OfSandbox,
  query: JournalQuery,
  errors: [],
  success: { status: 200, schema: JournalBody },
  handle({ query, sandbox: { journal }, server }) {
    const { since, limit, ...filter } = query;
    const wanted = filtering(filter, server);
    const from = since === undefined ? Number.NEGATIVE_INFINITY : sinceOf(since);
    const matching = journal.entries().filter((entry) => entry.at >= from && wanted(entry));
    return {
      entries: matching.slice(-limit).reverse().map(renderEntry),
      total: matching.length,
      dropped: journal.dropped,
    };
  },
});

type Filter = EntryMatch & { kind?: "request" | "delivery" | undefined };

/** @throws Problem 422 */
function filtering(
  { kind, ...match }: Filter,
  { operations }: ControlServer,
): (entry: JournalEntry) => boolean {
  const conditions = conditionsOf(match, { operations, events: DELIVERED_EVENTS, present: undefined });
  return (entry) =>
    (kind === undefined || (kind === "delivery") === (entry.delivery !== undefined)) &&
    conditions.every((condition) => condition(entry) === undefined);
}

const clearJournal = operation({
  id: "journal.clear",
  section: "interfaces 4",
  method: "DELETE",
  path: `${S}/journal`,
  summary: "Forget all entries so far",
  params: OfSandbox,
  errors: [],
  success: { status: 204 },
  handle({ sandbox }) {
    sandbox.journal.clear();
    return noContent();
  },
});

const retrieveEntry = operation({
  id: "journal.retrieve",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/journal/{id}`,
  summary: "Show one entry",
  params: below({
    id: Type.String({ description: "The answer's `x-request-id`", examples: ["req_5e1f"] }),
  }),
  errors: ["unknown-entry"],
  success: { status: 200, schema: JournalEntryBody },
  handle({ params: { id }, sandbox: { journal } }) {
    const entry = journal.find(id);
    if (entry !== undefined) return renderEntry(entry);
    throw new Problem("unknown-entry", {
      detail: `The journal holds no ${id.slice(0, 100)}; ${journal.dropped} entries were lost to its bound. The id is that of the response's x-request-id.`,
      value: id,
    });
  },
});

const followJournal = operation({
  id: "journal.stream",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/journal/stream`,
  summary: "Follow the journal as server-sent events, one entry each",
  params: OfSandbox,
  query: Closed(filters),
  headers: { "last-event-id": "The id of the last event that came, to go on behind it" },
  errors: [],
  success: { status: 200, content_types: ["text/event-stream"], events: JournalEntryBody },
  handle({ headers, query, sandbox: { journal }, server }) {
    const wanted = filtering(query, server);
    const last = headers["last-event-id"];
    if (last !== undefined && !/^\d{1,15}$/.test(last)) {
      throw unprocessable("Last-Event-ID", last, "must be the id of an event of this stream, a whole number");
    }
    const after = last === undefined ? undefined : Number(last);
    return new StreamBody("text/event-stream", (signal) => streamJournal(journal, { after, wanted }, signal));
  },
});

const followLive = operation({
  id: "journal.live",
  section: "interfaces 11",
  method: "GET",
  path: `${S}/live`,
  summary: "Follow a sandbox for a page: what its journal and its history keep, then what comes",
  params: OfSandbox,
  headers: { "last-event-id": "The id of the last event that came; anything unknown begins anew" },
  errors: [],
  success: { status: 200, content_types: ["text/event-stream"], events: LiveBody },
  handle({ headers, sandbox }) {
    const after = headers["last-event-id"];
    return new StreamBody("text/event-stream", (signal) => streamLive(sandbox, after, signal));
  },
});

const archiveJournal = operation({
  id: "journal.har",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/journal.har`,
  summary: "Download the journal as an HTTP Archive 1.2",
  params: OfSandbox,
  errors: [],
  success: { status: 200, schema: HarBody, headers: ["Content-Disposition"] },
  handle({ sandbox, server, origin }) {
    const base_url = baseUrlOf(sandbox.name, origin);
    const har = harOf(sandbox.journal.entries(), { base_url, version: server.version });
    return new Reply(200, har, { "Content-Disposition": `attachment; filename="${sandbox.name}.har"` });
  },
});

const Match = Closed({
  ...conditions,
  principal: Text("The id of the user who called"),
  body: Type.Optional(Type.Unknown({ description: "What the JSON body must at least hold" })),
  ...delivered,
  attempt: Type.Optional(Type.Integer({ minimum: 1, description: "Of deliveries: which attempt" })),
});
const Within = Type.Optional(
  typed(
    "Duration",
    Type.Unsafe<string | number>({
      type: ["string", "number"],
      title: "a duration such as 5s",
      description: "Waits so long on the wall clock until it holds, `2m` at most",
    }),
  ),
);

const CountExpectation = Closed({ match: Match, count: Count, within: Within });
const SequenceExpectation = Closed({
  sequence: Type.Array(Match, { minItems: 1, maxItems: 100, description: "In this order" }),
  strict: Type.Optional(
    Type.Boolean({ description: "Nothing else that any of them matches may come in between" }),
  ),
  within: Within,
});
type Expected = Static<typeof CountExpectation> | Static<typeof SequenceExpectation>;

export const Expectation = Type.Unsafe<Expected>({
  $id: "Expectation",
  type: "object",
  anyOf: [CountExpectation, SequenceExpectation],
  examples: [
    { match: { operation: "threads.delete" }, count: 1 },
    { match: { event: "file.processed", status: 200 }, count: { min: 1 }, within: "5s" },
    { sequence: [{ operation: "files.create_upload_url" }, { operation: "files.register" }], strict: true },
  ],
});

const checkJournal = operation({
  id: "journal.verify",
  section: "interfaces 4",
  method: "POST",
  path: `${S}/journal/verify`,
  summary:
    "Say whether what was expected came, as often or in the order in which it was, and what came nearest",
  params: OfSandbox,
  reads: true,
  body: { kind: "json", schema: Expectation, judged: "by handler" },
  errors: ["journal-incomplete"],
  success: { status: 200, schema: VerificationBody },
  async handle({ body, sandbox, server, signal }) {
    const verify = verifierOf(body, knownWords(server, sandbox));
    const { journal } = sandbox;
    const deadline = performance.now() + waitOf(body.within);
    for (;;) {
      requireWhole(journal);
      const { hopeless, ...verification } = verify(journal.entries());
      const left = deadline - performance.now();
      if (verification.ok || hopeless || left <= 0 || signal.aborted || journal.isClosed) return verification;
      await nextEntry(journal, AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(left))]));
    }
  },
});

/** @throws Problem 422 */
function verifierOf(body: Expected, known: KnownWords): Verify {
  if ("sequence" in body) {
    checkInput(SequenceExpectation, body);
    return sequenceVerifier({ sequence: body.sequence, strict: body.strict ?? false }, known);
  }
  checkInput(CountExpectation, body);
  const { min, max } = boundsOf(body.count);
  if (min > max) throw unprocessable("count", body.count, "must have a min that is at most its max");
  return countVerifier(body, known);
}

const MAX_WAIT_MS = 120_000;

/** @throws Problem 422 */
function waitOf(within: string | number | undefined): number {
  if (within === undefined) return 0;
  const wait = parseDuration(within);
  if (wait === undefined) throw unprocessable("within", within, "must be a duration such as 5s");
  if (wait > MAX_WAIT_MS) throw unprocessable("within", within, "must be at most 2m");
  return wait;
}

/** @throws Problem 409 */
function requireWhole({ dropped }: Journal): void {
  if (dropped === 0) return;
  throw conflict(
    "journal-incomplete",
    `The journal has lost ${dropped} entries to its bound, so nothing can be verified`,
    "raise the setting journal_limit, or DELETE the journal before what is to be verified",
  );
}

/** Who and what may stand in this journal; a word outside of it would make `count: 0` true for ever. */
function knownWords({ operations }: ControlServer, { world, journal }: Sandbox): KnownWords {
  const present = world.read();
  const entries = journal.entries();
  const ids = <R>(records: Iterable<R>, idOf: (record: R) => string) => [...records].map(idOf);
  return {
    operations,
    events: DELIVERED_EVENTS,
    present: {
      users: new Set([
        ...ids(present.all(users), ({ id }) => id),
        ...entries.flatMap(({ principal }) => principal ?? []),
      ]),
      webhooks: new Set([
        ...ids(present.all(webhooks), ({ webhook_id }) => webhook_id),
        ...entries.flatMap(({ delivery }) => delivery?.webhook_id ?? []),
      ]),
      paths: new Set(entries.map(({ path }) => path)),
    },
  };
}

function sinceOf(text: string): JournalEntry["at"] {
  const span = parseDateOrInstant(text);
  if (span === undefined) throw unprocessable("since", text, "must be an ISO 8601 date or timestamp");
  return span.from;
}

export const JOURNAL_OPERATIONS: readonly ControlOperation[] = [
  listJournal,
  clearJournal,
  followJournal,
  followLive,
  archiveJournal,
  checkJournal,
  retrieveEntry,
];
