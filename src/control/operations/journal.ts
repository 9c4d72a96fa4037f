import Type from "typebox";
import { noContent, Reply, StreamBody } from "../../engine/contract/reply.ts";
import { Closed } from "../../engine/contract/schema.ts";
import { lostEntries } from "../../engine/contract/text.ts";
import type { JournalEntry } from "../../engine/sandbox/journal.ts";
import { DELIVERED_EVENTS } from "../delivered-events.ts";
import { lastEventOf, NEWEST, NewestFirst, newestFirst, RESUMES } from "../entry-log.ts";
import { conditions, delivered } from "../journal/entry-conditions.ts";
import { HarBody, harOf } from "../journal/har.ts";
import { conditionsOf, type EntryMatch } from "../journal/match-entry.ts";
import { JournalEntryBody, renderEntry } from "../journal/render-entry.ts";
import { streamJournal } from "../journal/stream-journal.ts";
import { LiveBody, streamLive } from "../journal/stream-live.ts";
import { below, type ControlOperation, type ControlServer, OfSandbox, operation, S } from "../operation.ts";
import { Problem } from "../problem.ts";
import { toBaseUrl } from "../sandbox-body.ts";
import { checkJournal } from "./journal-verify.ts";

const Kind = Type.Unsafe<"request" | "delivery">({
  type: "string",
  enum: ["request", "delivery"],
  description: "Only incoming requests, or only attempts to deliver events",
});

const filters = { kind: Type.Optional(Kind), ...conditions, ...delivered };

export const JournalQuery = Closed({ ...filters, ...NEWEST });

export const JournalBody = NewestFirst(JournalEntryBody, "journal");

const listJournal = operation({
  id: "journal.list",
  section: "interfaces 4",
  method: "GET",
  path: `${S}/journal`,
  summary: "List requests and delivery attempts, newest first, with the reason for each outcome",
  params: OfSandbox,
  query: JournalQuery,
  errors: [],
  success: { status: 200, schema: JournalBody },
  handle({ query, sandbox: { journal }, server }) {
    const { since, limit, ...filter } = query;
    return newestFirst(journal, { since, limit, wanted: filtering(filter, server), render: renderEntry });
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
  summary: "Clear the journal",
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
    id: Type.String({
      description: "The response's `x-request-id` (the newest entry if it repeats), or the entry's `seq`",
      examples: ["req_5e1f"],
    }),
  }),
  errors: ["unknown-entry"],
  success: { status: 200, schema: JournalEntryBody },
  handle({ params: { id }, sandbox: { journal } }) {
    const entry = journal.find(id);
    if (entry !== undefined) return renderEntry(entry);
    throw new Problem("unknown-entry", {
      detail: `The journal holds no ${id.slice(0, 100)}; ${lostEntries(journal.dropped)} lost to its bound. The id is that of the response's x-request-id.`,
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
  headers: RESUMES,
  errors: [],
  success: { status: 200, content_types: ["text/event-stream"], events: JournalEntryBody },
  handle({ headers, query, sandbox: { journal }, server }) {
    const wanted = filtering(query, server);
    const after = lastEventOf(headers);
    return new StreamBody("text/event-stream", (signal) => streamJournal(journal, { after, wanted }, signal));
  },
});

const followLive = operation({
  id: "journal.live",
  section: "interfaces 11",
  method: "GET",
  path: `${S}/live`,
  summary: "Follow a sandbox for a page: its journal and its history so far, then new entries",
  params: OfSandbox,
  headers: { "last-event-id": "The id of the last event received; an unknown id starts from the beginning" },
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
    const base_url = toBaseUrl(sandbox.name, origin);
    const har = harOf(sandbox.journal.entries(), { base_url, version: server.version });
    return new Reply(200, har, { "Content-Disposition": `attachment; filename="${sandbox.name}.har"` });
  },
});

export const JOURNAL_OPERATIONS: readonly ControlOperation[] = [
  listJournal,
  clearJournal,
  followJournal,
  followLive,
  archiveJournal,
  checkJournal,
  retrieveEntry,
];
