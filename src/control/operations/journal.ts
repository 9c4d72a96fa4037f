import Type from "typebox";
import { parseDateOrInstant } from "../../contract/instant.ts";
import { noContent, RawBody, Reply, StreamBody } from "../../contract/operation.ts";
import type { JournalEntry } from "../../sandbox/journal.ts";
import { harOf } from "../journal/har.ts";
import { conditionsOf } from "../journal/match-entry.ts";
import { renderEntry } from "../journal/render-entry.ts";
import { streamJournal } from "../journal/stream-journal.ts";
import { boundsOf, type Count, verifyJournal } from "../journal/verify-journal.ts";
import { type AnyControlOperation, type ControlServer, controlOperation, S } from "../operation.ts";
import { conflict, Problem, unprocessable } from "../problem.ts";
import { baseUrlOf } from "../sandbox-body.ts";

const Status = Type.Unsafe<string | number>({
  type: ["string", "integer"],
  pattern: "^[1-5](\\d\\d|xx|XX)$",
  minimum: 100,
  maximum: 599,
  title: "a status such as 404, or a class such as 4xx",
});
const Text = Type.Optional(Type.String({ minLength: 1 }));

const listJournal = controlOperation({
  id: "journal.list",
  method: "GET",
  path: `${S}/journal`,
  summary: "List requests, newest first, and why each was answered as it was",
  query: Type.Object({
    operation: Text,
    status: Type.Optional(Status),
    code: Text,
    method: Text,
    path: Text,
    since: Text,
    /** More than a journal may hold: whoever names no limit gets all that match. */
    limit: Type.Integer({ minimum: 1, maximum: 100_000, default: 100_000 }),
  }),
  handle({ query, sandbox: { journal }, server }) {
    const { since, limit, ...match } = query;
    const conditions = conditionsOf(match, operationIds(server));
    const from = since === undefined ? Number.NEGATIVE_INFINITY : sinceOf(since);
    const matching = journal
      .entries()
      .filter((entry) => entry.at >= from && conditions.every((condition) => condition(entry) === undefined));
    return {
      entries: matching.slice(-limit).reverse().map(renderEntry),
      total: matching.length,
      dropped: journal.dropped,
    };
  },
});

const clearJournal = controlOperation({
  id: "journal.clear",
  method: "DELETE",
  path: `${S}/journal`,
  summary: "Forget all requests so far",
  changes: false,
  handle({ sandbox }) {
    sandbox.journal.clear();
    return noContent();
  },
});

const retrieveEntry = controlOperation({
  id: "journal.retrieve",
  method: "GET",
  path: `${S}/journal/{id}`,
  summary: "Show one request",
  params: Type.Object({ name: Type.String(), id: Type.String() }),
  handle({ params: { id }, sandbox: { journal } }) {
    const entry = journal.find(id);
    if (entry !== undefined) return renderEntry(entry);
    throw new Problem(404, {
      kind: "unknown-entry",
      title: "Unknown journal entry",
      detail: `The journal holds no ${id.slice(0, 100)}; ${journal.dropped} entries were lost to its bound. The id is that of the response's x-request-id.`,
      value: id,
    });
  },
});

const followJournal = controlOperation({
  id: "journal.stream",
  method: "GET",
  path: `${S}/journal/stream`,
  summary: "Follow the journal as server-sent events, one entry each",
  handle({ headers, sandbox: { journal } }) {
    const last = headers["last-event-id"];
    if (last !== undefined && !/^\d{1,15}$/.test(String(last))) {
      throw unprocessable("Last-Event-ID", last, "must be the id of an event of this stream, a whole number");
    }
    const after = last === undefined ? undefined : Number(last);
    return new Reply(
      200,
      new StreamBody("text/event-stream", (signal) => streamJournal(journal, after, signal)),
    );
  },
});

const archiveJournal = controlOperation({
  id: "journal.har",
  method: "GET",
  path: `${S}/journal.har`,
  summary: "Download the journal as an HTTP Archive 1.2",
  handle({ sandbox, server, origin }) {
    const base_url = baseUrlOf(sandbox.name, origin);
    const har = harOf(sandbox.journal.entries(), { base_url, version: server.version });
    return new Reply(200, new RawBody("application/json; charset=utf-8", JSON.stringify(har)), {
      "Content-Disposition": `attachment; filename="${sandbox.name}.har"`,
    });
  },
});

const Whole = Type.Integer({ minimum: 0 });

const checkJournal = controlOperation({
  id: "journal.verify",
  method: "POST",
  path: `${S}/journal/verify`,
  summary: "Say whether as many requests came as were expected, and which came nearest",
  changes: false,
  body: {
    schema: Type.Object(
      {
        match: Type.Object(
          {
            operation: Text,
            status: Type.Optional(Status),
            code: Text,
            method: Text,
            path: Text,
            principal: Text,
            body: Type.Optional(Type.Unknown()),
          },
          { additionalProperties: false },
        ),
        count: Type.Unsafe<Count>({
          anyOf: [
            Whole,
            Type.Object(
              { min: Type.Optional(Whole), max: Type.Optional(Whole) },
              { additionalProperties: false, minProperties: 1 },
            ),
          ],
        }),
      },
      { additionalProperties: false },
    ),
  },
  handle({ body, sandbox: { journal }, server }) {
    const { min, max } = boundsOf(body.count);
    if (min > max) throw unprocessable("count", body.count, "must have a min that is at most its max");
    const verification = verifyJournal(journal.entries(), body, operationIds(server));
    if (journal.dropped > 0) {
      throw conflict(
        "journal-incomplete",
        `The journal has lost ${journal.dropped} entries to its bound, so nothing can be verified`,
        "raise the setting journal_limit, or DELETE the journal before what is to be verified",
      );
    }
    return verification;
  },
});

function operationIds({ operations }: ControlServer): string[] {
  return operations.map(({ id }) => id);
}

function sinceOf(text: string): JournalEntry["at"] {
  const span = parseDateOrInstant(text);
  if (span === undefined) throw unprocessable("since", text, "must be an ISO 8601 date or timestamp");
  return span.from;
}

export const JOURNAL_OPERATIONS: readonly AnyControlOperation[] = [
  listJournal,
  clearJournal,
  followJournal,
  archiveJournal,
  checkJournal,
  retrieveEntry,
];
