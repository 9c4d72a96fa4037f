import { createHash, randomBytes } from "node:crypto";
import type { HistoryEntry } from "../../engine/sandbox/history-entry.ts";
import { bodyText, type JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { sendRecorded } from "../../tools/bundle/replay-traffic.ts";
import { requireRoom } from "../limits.ts";
import type { ControlServer } from "../operation.ts";
import { conflict, type Problem, ruleAt } from "../problem.ts";
import { RemoteSandbox, type WireRequest } from "../remote-sandbox.ts";
import type { ComparedAnswer } from "./answer-differences.ts";

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
  target: Sandbox | RemoteSandbox;
  /** A rule for this request alone. */
  rule: object | undefined;
}

/**
 * What the journal has of an entry's request.
 * @throws Problem 409 when it has nothing
 */
export function requestOf({ id, request, entry }: HistoryEntry): JournalEntry {
  if (request === null) throw notRepeatable(`${id} is no request`);
  if (entry.exchange === undefined) throw notRepeatable(`The journal no longer has the request of ${id}`);
  return entry.exchange;
}

/**
 * Sends it once more, as it came.
 * @throws Problem 409 when not all of it was kept, or no answer comes; DocumentError for a rule that is wrong
 */
export async function repeatRequest(
  entry: JournalEntry,
  { server, target, rule }: Repetition,
): Promise<ComparedAnswer> {
  if ((entry.request_body?.length ?? 0) < entry.request_bytes)
    throw notRepeatable(`The journal does not keep the body of ${entry.id}, which was too long`);
  const mark = randomBytes(12).toString("hex");
  const own = rule && ruleFor(rule, entry, mark);
  const disarm = own && (await arm(own, { server, target }));
  try {
    const query = entry.query === "" ? "" : `?${entry.query}`;
    const again = {
      method: entry.method,
      target: prefixOf(entry, target) + entry.path + query,
      headers: [...headersOf(entry), [MARK, mark]],
      body: entry.request_body,
    };
    const isIts = ({ request_headers }: JournalEntry) => request_headers.includes(mark);
    const sent = await (target instanceof RemoteSandbox
      ? sendToRemote(entry, target, again)
      : sendRecorded(target, { ...server.address(), ...again, isIts }));
    if (sent === undefined) throw notRepeatable("The server gave no answer to the repeated request");
    return sent;
  } finally {
    await disarm?.();
  }
}

/** Of another node's sandbox, the answer is what comes over the wire. */
async function sendToRemote(
  { streamed }: JournalEntry,
  target: RemoteSandbox,
  request: WireRequest,
): Promise<ComparedAnswer | undefined> {
  const answer = await target.send(request).catch(() => undefined);
  if (answer === undefined) return undefined;
  const { status, body } = answer;
  const headers = pairsOf(answer.headers).filter(([name]) => name!.toLowerCase() !== "transfer-encoding");
  const [, id = ""] = headers.find(([name]) => name!.toLowerCase() === "x-request-id") ?? [];
  const sha256 = createHash("sha256").update(body).digest("hex");
  return {
    ...{ id, status, response_headers: headers.flat(), response_body: body },
    streamed: typeof streamed === "object" ? { bytes: body.length, sha256 } : undefined,
  };
}

/** The rule for the marked request alone. */
function ruleFor(
  rule: { match?: { header?: object }; id?: string },
  { operation }: JournalEntry,
  mark: string,
) {
  const match = {
    ...(operation === null ? {} : { operation }),
    ...rule.match,
    header: { ...rule.match?.header, [MARK]: mark },
  };
  return { ...rule, id: `repeat-${mark}`, match };
}

/** What it returns takes the rule away again. */
async function arm(
  rule: { id: string },
  { server, target }: Pick<Repetition, "server" | "target">,
): Promise<() => unknown> {
  if (target instanceof RemoteSandbox) {
    await target.call("POST", "/faults", rule);
    return () => target.call("DELETE", `/faults/${rule.id}`);
  }
  const { rules } = server.faults.of(target);
  requireRoom(server, "rules", rules.all().length + 1);
  const { id } = ruleAt("with", () => rules.add(rule)).rule;
  server.recordings.spoil(target, "a request was repeated under a rule of its own");
  return () => rules.remove(id);
}

/** `default` has no prefix, unless the request was seen to have used it. */
function prefixOf({ response_body }: JournalEntry, { name }: { name: string }): string {
  const prefix = `/_s/${name}`;
  return name !== "default" || bodyText(response_body).includes(`${prefix}/`) ? prefix : "";
}

function headersOf({ request_headers }: JournalEntry): string[][] {
  return pairsOf(request_headers).filter(([name]) => !NOT_SENT_AGAIN.has(name!.toLowerCase()));
}

function pairsOf(flat: readonly string[]): string[][] {
  return Array.from({ length: Math.floor(flat.length / 2) }, (_, i) => flat.slice(2 * i, 2 * i + 2));
}

function notRepeatable(detail: string): Problem {
  return conflict(
    "not-repeatable",
    detail,
    "repeat the entry of a newer request, or send the request yourself",
  );
}
