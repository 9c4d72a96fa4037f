import { toHex } from "../../engine/bytes.ts";
import { CONNECTION_HEADER } from "../../engine/contract/header-fields.ts";
import { compileIdGlob } from "../../engine/faults/rule.ts";
import type { MatchDocument } from "../../engine/faults/rule-document.ts";
import { toPairs } from "../../engine/maps.ts";
import { BASE_HEADER, toBaseHeaders, type WireRequest } from "../../engine/pipeline/plain-http.ts";
import { digest, randomHex } from "../../engine/platform.ts";
import type { HistoryEntry } from "../../engine/sandbox/history-entry.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { sendAndAwaitEntry } from "../../tools/bundle/replay-traffic.ts";
import { requireRoom } from "../limits.ts";
import type { ControlServer } from "../operation.ts";
import { conflict, type Problem, readRuleField, unprocessable } from "../problem.ts";
import { RemoteSandbox } from "../remote-sandbox.ts";
import type { ComparedAnswer } from "./answer-differences.ts";

/** Marks the repeated request, so that its rule applies to no other request and its answer is found. */
const MARK_HEADER = "x-sandbox-repeat";
const NOT_SENT_AGAIN = new Set(["x-sandbox", MARK_HEADER, BASE_HEADER]);

interface RepeatOptions {
  server: ControlServer;
  /** The sandbox that gets the repeated request. */
  target: Sandbox | RemoteSandbox;
  /** A rule for this request alone. */
  rule: object | undefined;
}

/** The request of an entry, from the journal. @throws Problem 409 if there was none, or the journal has evicted it */
export function requireExchange({ id, request, timelineEntry: { exchange } }: HistoryEntry): JournalEntry {
  if (request === null) throw notRepeatable(`${id} is not a request`);
  if (exchange === undefined) throw notRepeatable(`The journal no longer has the request of ${id}`);
  return exchange;
}

/**
 * Repeats the request, byte for byte.
 * @throws Problem 409 if not all of it was stored, or no answer comes; 422 for a rule that is invalid or matches no
 *   such request
 */
export async function repeatRequest(
  entry: JournalEntry,
  { server, target, rule }: RepeatOptions,
): Promise<ComparedAnswer> {
  if (entry.delivery !== undefined) throw notRepeatable(`${entry.id} is not a request`);
  if ((entry.request_body?.length ?? 0) < entry.request_bytes)
    throw notRepeatable(`The journal does not keep the body of ${entry.id}, which was too long`);
  const mark = randomHex(12);
  const markedRule = rule && makeRule(rule, entry, mark);
  const disarm = markedRule && (await armRule(markedRule, { server, target }));
  try {
    if (markedRule) requireOperation(markedRule.match, entry);
    const query = entry.query === "" ? "" : `?${entry.query}`;
    const matchesEntry = ({ request_headers }: JournalEntry) => request_headers.includes(mark);
    const request = {
      method: entry.method,
      target: `/_s/${target.name}${entry.path}${query}`,
      headers: [...copyHeaders(entry), [MARK_HEADER, mark], ...toBaseHeaders(entry.base_url)],
      body: entry.request_body,
    };
    const answer = await (target instanceof RemoteSandbox
      ? sendToRemote(entry, target, request)
      : sendAndAwaitEntry(target, server.sendToSelf, { ...request, matchesEntry }));
    if (answer === undefined) throw notRepeatable("The server gave no answer to the repeated request");
    return answer;
  } finally {
    await disarm?.();
  }
}

/** Sends a request to another node's sandbox. The answer comes from the connection: the journal is on that node. */
async function sendToRemote(
  { streamed }: JournalEntry,
  target: RemoteSandbox,
  request: WireRequest,
): Promise<ComparedAnswer | undefined> {
  const answer = await target.send(request).catch(() => undefined);
  if (answer === undefined) return undefined;
  const { status, body } = answer;
  const headers = toPairs(answer.headers).filter(([name]) => name.toLowerCase() !== "transfer-encoding");
  const [, id = ""] = headers.find(([name]) => name.toLowerCase() === "x-request-id") ?? [];
  const sha256 = toHex(digest("sha256", body));
  return {
    id,
    status,
    response_headers: headers.flat(),
    response_body: body,
    streamed: typeof streamed === "object" ? { bytes: body.length, sha256 } : undefined,
  };
}

/** The rule for the marked request alone. @throws Problem 422 for one that matches deliveries */
function makeRule(rule: { match?: MatchDocument; id?: string }, { operation }: JournalEntry, mark: string) {
  for (const key of ["event", "webhook"] as const) {
    const value = rule.match?.[key];
    if (value !== undefined)
      throw unprocessable(`with.match.${key}`, value, "is for deliveries; the call repeats a request");
  }
  const match = {
    ...(operation === null ? {} : { operation }),
    ...rule.match,
    header: { ...rule.match?.header, [MARK_HEADER]: mark },
  };
  return { ...rule, id: `repeat-${mark}`, match };
}

/** @throws Problem 422 if a valid rule is for other operations */
function requireOperation({ operation: pattern }: MatchDocument, { operation }: JournalEntry): void {
  if (operation === null || pattern === undefined || compileIdGlob(pattern, [operation])(operation)) return;
  throw unprocessable("with.match.operation", pattern, `does not match ${operation}, the repeated operation`);
}

/** Returns a function that removes the rule. */
async function armRule(
  rule: { id: string },
  { server, target }: Pick<RepeatOptions, "server" | "target">,
): Promise<() => unknown> {
  if (target instanceof RemoteSandbox) {
    await target.call("POST", "/faults", rule);
    return () => target.call("DELETE", `/faults/${rule.id}`);
  }
  const faults = server.faults.getSandboxFaults(target);
  requireRoom(server, "rules", faults.rules.allRules.length + 1);
  const { id } = readRuleField("with", () => faults.add(rule)).rule;
  server.recordings.markNotReplayable(target, "a request was repeated under a rule of its own");
  return () => faults.remove(id);
}

function copyHeaders({ request_headers }: JournalEntry): string[][] {
  return toPairs(request_headers).filter(
    ([name]) => !CONNECTION_HEADER.test(name) && !NOT_SENT_AGAIN.has(name.toLowerCase()),
  );
}

function notRepeatable(detail: string): Problem {
  return conflict(
    "not-repeatable",
    detail,
    "repeat the entry of a newer request, or send the request yourself",
  );
}
