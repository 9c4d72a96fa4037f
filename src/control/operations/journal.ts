import { Type } from "typebox";
import { Reply, StreamBody } from "../../engine/contract/reply.ts";
import { ClosedObject, StringEnum } from "../../engine/contract/schema.ts";
import { describeEvictedEntries, foldCase } from "../../engine/contract/text.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { maskMessage } from "../../tools/har/har-entry.ts";
import { HarBody, toHar } from "../journal/har.ts";
import {
  CONDITION_FIELDS,
  createConditions,
  DELIVERY_FIELDS,
  type EntryMatch,
  listPastOperations,
} from "../journal/match-entry.ts";
import { getKind, JournalEntryBody, renderEntry } from "../journal/render-journal-entry.ts";
import { LIST_QUERY, listNewestFirst, NewestFirst } from "../list-entries.ts";
import { type ControlOperation, OptionalText, operation, sandboxParams } from "../operation.ts";
import { Problem } from "../problem.ts";
import { RESUME_HEADERS, readLastEvent, streamEntries } from "../stream-entries.ts";
import { LiveBody, streamLive } from "../stream-live.ts";
import { VERIFY_JOURNAL } from "./journal-verify.ts";

const Kind = StringEnum(["request", "delivery"], {
  description: "Only incoming requests, or only attempts to deliver events",
});

const filters = { kind: Type.Optional(Kind), ...CONDITION_FIELDS, ...DELIVERY_FIELDS };

export const JournalQuery = ClosedObject({ ...filters, ...LIST_QUERY });

export const JournalBody = NewestFirst(JournalEntryBody, "journal");

type Filter = EntryMatch & { kind?: "request" | "delivery" | undefined };

/** @throws Problem 422 */
function createFilter({ kind, ...match }: Filter, sandbox: Sandbox): (entry: JournalEntry) => boolean {
  const pastOperations = match.operation === undefined ? [] : listPastOperations(sandbox);
  const conditions = createConditions(match, { api: sandbox.api, pastOperations, sandboxWords: undefined });
  return (entry) =>
    (kind === undefined || kind === getKind(entry)) &&
    conditions.every((condition) => condition(entry) === undefined);
}

export const JOURNAL_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "journal.list",
    route: "GET /_control/sandboxes/{name}/journal",
    summary: "List requests and delivery attempts, newest first, with the reasons for each answer",
    query: JournalQuery,
    success: { status: 200, schema: JournalBody },
    handle({ query, sandbox }) {
      const { since, limit, ...filter } = query;
      return listNewestFirst(
        sandbox.journal,
        { since, limit },
        { matches: createFilter(filter, sandbox), render: renderEntry },
      );
    },
  }),
  operation({
    id: "journal.search",
    section: "interfaces 11",
    route: "GET /_control/sandboxes/{name}/journal/search",
    summary: "Find the `seq` of each entry whose request or response body contains a text",
    query: ClosedObject({
      body: OptionalText("The text, in upper or lower case; by default any"),
    }),
    success: {
      status: 200,
      schema: ClosedObject(
        { seqs: Type.Array(Type.Integer(), { description: "The `seq` of each entry, oldest first" }) },
        { examples: [{ seqs: [1] }] },
      ),
    },
    handle({ query, sandbox }) {
      const searchText = foldCase(query.body ?? "");
      const contains = (headers: readonly string[], bytes: Uint8Array | string | undefined) => {
        const { body = "" } = maskMessage(headers, bytes);
        return foldCase(typeof body === "string" ? body : JSON.stringify(body)).includes(searchText);
      };
      const matching = sandbox.journal
        .entries()
        .filter(
          ({ request_headers, request_body, response_headers, response_body }) =>
            contains(request_headers, request_body) || contains(response_headers, response_body),
        );
      return { seqs: matching.map(({ timelineEntry }) => timelineEntry.number) };
    },
  }),
  operation({
    id: "journal.clear",
    route: "DELETE /_control/sandboxes/{name}/journal",
    summary: "Clear the journal",
    success: { status: 204 },
    handle: ({ sandbox }) => sandbox.journal.clear(),
  }),
  operation({
    id: "journal.stream",
    route: "GET /_control/sandboxes/{name}/journal/stream",
    summary: "Follow the journal",
    query: ClosedObject(filters),
    headers: RESUME_HEADERS,
    success: { status: 200, content_types: ["text/event-stream"], events: JournalEntryBody },
    handle({ headers, query, sandbox }) {
      const matches = createFilter(query, sandbox);
      const options = { after: readLastEvent(headers), matches, render: renderEntry };
      return new StreamBody("text/event-stream", (signal) =>
        streamEntries("journal", sandbox.journal, options, signal),
      );
    },
  }),
  operation({
    id: "journal.har",
    route: "GET /_control/sandboxes/{name}/journal.har",
    summary: "Download the journal as an HTTP Archive 1.2",
    success: { status: 200, schema: HarBody, headers: ["Content-Disposition"] },
    handle({ sandbox, server, site }) {
      const base_url = site.baseUrl(sandbox.name);
      const har = toHar(sandbox.journal.entries(), { base_url, version: server.version });
      return new Reply(200, har, { "Content-Disposition": `attachment; filename="${sandbox.name}.har"` });
    },
  }),
  VERIFY_JOURNAL,
  operation({
    id: "journal.retrieve",
    route: "GET /_control/sandboxes/{name}/journal/{id}",
    summary: "Show an entry of the journal",
    params: sandboxParams({
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
        detail: `The journal has no ${id.slice(0, 100)}; ${describeEvictedEntries(journal.dropped)} evicted. The id is that of the response's x-request-id.`,
        value: id,
      });
    },
  }),
  operation({
    // The id says `journal` since it is published; the stream has the history too.
    id: "journal.live",
    section: "interfaces 11",
    route: "GET /_control/sandboxes/{name}/live",
    summary: "Follow journal and history in one stream. Stored entries come first, then new ones",
    headers: {
      "last-event-id": "The id of the last event received; an unknown id starts from the beginning",
    },
    success: { status: 200, content_types: ["text/event-stream"], events: LiveBody },
    handle({ headers, sandbox }) {
      const after = headers["last-event-id"];
      return new StreamBody("text/event-stream", (signal) => streamLive(sandbox, after, signal));
    },
  }),
];
