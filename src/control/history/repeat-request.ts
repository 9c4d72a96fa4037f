import { randomBytes } from "node:crypto";
import { sendRecorded } from "../../bundle/send-recorded.ts";
import type { HistoryEntry } from "../../sandbox/history-entry.ts";
import type { JournalEntry } from "../../sandbox/journal.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { requireRoom } from "../limits.ts";
import type { ControlServer } from "../operation.ts";
import { conflict, type Problem } from "../problem.ts";

/** Marks the repeated request, so that nobody else's is taken for it and no other is struck by its rule. */
const MARK = "x-sandbox-repeat";
/** Of the connection, or another sandbox's. */
const NOT_SENT_AGAIN = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-sandbox",
  MARK,
]);

export interface Repetition {
  server: ControlServer;
  /** Where it is sent to. */
  target: Sandbox;
  /** A rule for this request alone. */
  rule: object | undefined;
}

/**
 * What the journal has of an entry's request.
 * @throws Problem 409 when it has nothing
 */
export function requestOf({ journal }: Sandbox, { id, request, journaled }: HistoryEntry): JournalEntry {
  if (request === null) throw notRepeatable(`${id} is no request`);
  const found = journaled === undefined ? undefined : journal.at(journaled);
  if (found === undefined) throw notRepeatable(`The journal no longer has the request of ${id}`);
  return found;
}

/**
 * Sends it once more, as it came.
 * @throws Problem 409 when not all of it was kept, or no answer comes; DocumentError for a rule that is wrong
 */
export async function repeatRequest(
  entry: JournalEntry,
  { server, target, rule }: Repetition,
): Promise<JournalEntry> {
  if ((entry.request_body?.length ?? 0) < entry.request_bytes)
    throw notRepeatable(`The journal does not keep the body of ${entry.id}, which was too long`);
  const mark = randomBytes(12).toString("hex");
  const disarm = rule && arm(rule, entry, { server, target, mark });
  try {
    const query = entry.query === "" ? "" : `?${entry.query}`;
    const sent = await sendRecorded(target, {
      ...server.address(),
      method: entry.method,
      target: prefixOf(entry, target) + entry.path + query,
      headers: [...headersOf(entry), [MARK, mark]],
      body: entry.request_body,
      isIts: ({ request_headers }) => request_headers.includes(mark),
    });
    if (sent === undefined) throw notRepeatable("The server gave no answer to the repeated request");
    return sent;
  } finally {
    disarm?.();
  }
}

/** Arms the rule for the marked request alone; what it returns takes it away again. */
function arm(
  rule: { match?: { header?: object }; id?: string },
  { operation }: JournalEntry,
  { server, target, mark }: { server: ControlServer; target: Sandbox; mark: string },
): () => void {
  const { rules } = server.faults.of(target);
  requireRoom(server, "rules", rules.all().length + 1);
  const match = {
    ...(operation === null ? {} : { operation }),
    ...rule.match,
    header: { ...rule.match?.header, [MARK]: mark },
  };
  const { id } = rules.add({ ...rule, id: `repeat-${mark}`, match }).rule;
  server.recordings.spoil(target, "a request was repeated under a rule of its own");
  return () => void rules.remove(id);
}

/** `default` has no prefix, unless the request was seen to have used it. */
function prefixOf({ response_body }: JournalEntry, { name }: Sandbox): string {
  const prefix = `/_s/${name}`;
  return name !== "default" || response_body?.includes(`${prefix}/`) ? prefix : "";
}

function headersOf({ request_headers }: JournalEntry): [string, string][] {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < request_headers.length; i += 2) {
    const name = request_headers[i]!;
    if (!NOT_SENT_AGAIN.has(name.toLowerCase())) headers.push([name, request_headers[i + 1]!]);
  }
  return headers;
}

function notRepeatable(detail: string): Problem {
  return conflict(
    "not-repeatable",
    detail,
    "repeat the entry of a newer request, or send the request yourself",
  );
}
