import { randomBytes } from "node:crypto";
import Type, { type Static } from "typebox";
import { Closed, Nullable } from "../../engine/contract/schema.ts";
import type { HistoryEntry } from "../../engine/sandbox/history-entry.ts";
import type { Journal, JournalEntry } from "../../engine/sandbox/journal.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { redactQuery, redactText } from "../../tools/har/secret-redactor.ts";
import { HistoryEntryBody, renderHistoryEntry } from "../history/render-entry.ts";
import { JournalEntryBody } from "./render-entry.ts";

const {
  id,
  seq,
  sequence,
  at,
  operation,
  method,
  path,
  status,
  code,
  duration_ms,
  principal,
  decision,
  history,
} = JournalEntryBody.properties;

/** A request without its messages: what a list shows of it, at a tenth of the bytes. */
export const RequestLine = Closed(
  {
    id,
    seq,
    sequence,
    at,
    operation,
    method,
    path,
    query: Type.String({ description: "Secrets masked" }),
    status,
    code,
    duration_ms,
    principal,
    decision,
    history,
    why: Nullable(Type.String({ description: "The first of its reasons" })),
    warnings: Type.Integer({ minimum: 0, description: "How many" }),
  },
  {
    $id: "RequestLine",
    examples: [
      {
        id: "req_5e1f",
        seq: 1,
        sequence: 1,
        at: "2026-03-15T12:00:00.000Z",
        operation: "threads.delete",
        method: "DELETE",
        path: "/v1/threads/thread_ada",
        query: "",
        status: 403,
        code: "INSUFFICIENT_PERMISSIONS",
        duration_ms: 2,
        principal: "usr_cleo",
        decision: "access",
        history: null,
        why: null,
        warnings: 0,
      },
    ],
  },
);

/** An attempt to deliver, of which the history tells the rest. */
const AttemptLine = Closed({
  history: Type.String({ description: "The id of its history entry" }),
  duration_ms,
});

/** What a page that follows a sandbox is told at once. */
export const LiveBody = Closed(
  {
    begins: Type.Boolean({
      description: "What came before was another run of the server, or was cleared: forget it",
    }),
    requests: Type.Array(RequestLine, { description: "Oldest first" }),
    history: Type.Array(HistoryEntryBody, {
      description: "Entries that are new, and those of which something has changed, such as `undone`",
    }),
    attempts: Type.Array(AttemptLine, { description: "To deliver: how long each waited for its answer" }),
    dropped: Type.Integer({ minimum: 0, description: "How many the journal's bounds have taken so far" }),
  },
  { $id: "Live" },
);
export type LiveBody = Static<typeof LiveBody>;

/** Tell positions in one journal from those in any other: of an earlier process, of a sandbox of the same name. */
const tags = new WeakMap<Journal, string>();
/** So that what is kept of a busy sandbox arrives in pieces that a page takes without a stall. */
const MAX_AT_ONCE = 250;

/**
 * Everything that is kept, and then what comes, in messages of many entries. The event's id says how far it has
 * come in which journal; with another journal's id, or none, it begins anew. Of the history everything is told
 * again, since what was told may have been undone meanwhile. The reader's pace decides: nothing is queued for it.
 */
export async function* streamLive(
  { journal, history }: Sandbox,
  after: string | undefined,
  signal: AbortSignal,
): AsyncIterable<string> {
  let world = worldOf(journal);
  const [, of, position] = /^(.+)\.(\d{1,15})$/.exec(after ?? "") ?? [];
  let begins = of !== world;
  let last = begins ? 0 : Math.min(Number(position), journal.lastSequence);
  let told = new WeakMap<HistoryEntry, number>();
  while (!signal.aborted && !journal.isClosed) {
    if (world !== worldOf(journal)) {
      world = worldOf(journal);
      begins = true;
      told = new WeakMap();
    }
    const fresh = journal.since(last).slice(0, MAX_AT_ONCE);
    const news = history.entries().filter((entry) => told.get(entry) !== entry.revision);
    if (fresh.length > 0 || news.length > 0 || begins) {
      last = fresh.at(-1)?.sequence ?? last;
      const some = news.slice(0, MAX_AT_ONCE);
      for (const entry of some) told.set(entry, entry.revision);
      const body: LiveBody = {
        begins,
        requests: fresh.filter(({ delivery }) => delivery === undefined).map(lineOf),
        history: some.map((entry) => renderHistoryEntry(entry)),
        attempts: fresh.flatMap(({ delivery, history: of, duration_ms }) =>
          delivery === undefined || of === null ? [] : [{ history: of, duration_ms }],
        ),
        dropped: journal.dropped,
      };
      begins = false;
      yield `id: ${world}.${last}\ndata: ${JSON.stringify(body)}\n\n`;
    } else {
      await nextNews({ journal, history }, signal);
    }
  }
}

function worldOf(journal: Journal): string {
  let tag = tags.get(journal);
  if (tag === undefined) {
    tag = randomBytes(6).toString("hex");
    tags.set(journal, tag);
  }
  return `${tag}-${journal.clears}`;
}

function lineOf(entry: JournalEntry): Static<typeof RequestLine> {
  const { id, seq, sequence, operation, method, status, code, duration_ms, principal, decision, history } =
    entry;
  return {
    id,
    seq,
    sequence,
    at: new Date(entry.at).toISOString(),
    operation,
    method,
    path: redactText(entry.path),
    query: redactQuery(entry.query),
    status,
    code,
    duration_ms,
    principal,
    decision,
    history,
    why: entry.reasons[0] === undefined ? null : redactText(entry.reasons[0]),
    warnings: entry.warnings.length,
  };
}

/** Resolves when there is something new, when the journal was cleared or closed, or when the reader has left. */
function nextNews(
  { journal, history }: Pick<Sandbox, "journal" | "history">,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || journal.isClosed) return resolve();
    const done = () => {
      for (const stop of stops) stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stops = [journal.subscribe(done), history.subscribe(done)];
    signal.addEventListener("abort", done, { once: true });
  });
}
