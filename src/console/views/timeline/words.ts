import type { JournalEntry, RequestLine } from "../../../../types/control-api.ts";
import { toPrintableLines } from "../../../engine/contract/text.ts";
import { formatRuleName, toSingularName } from "../../components/text.tsx";
import { WIRE_WORDS } from "../faults/rules.ts";
import { isRewind, type Node } from "./nodes.ts";

const KINDS = {
  request: "request",
  control: "control call",
  timer: "timer",
  delivery: "delivery",
  scenario: "fault rules",
  restore: "restore",
} as const;

export function describeKind({ request, entry }: Pick<Node, "request" | "entry">): string {
  if (request) return "request";
  return isRewind(entry) ? "rewind" : KINDS[entry!.kind];
}

export function describeNode({ request, entry, target }: Node): string {
  if (target !== undefined)
    return toPrintableLines(entry!.title).replace(
      target.entry!.id,
      () => `“${describeNode(target).replace(/\.$/, "")}”`,
    );
  if (request === undefined) return toPrintableLines(entry!.title);
  return `${request.method} ${request.path}${request.query === "" ? "" : `?${request.query}`}`;
}

const ATTEMPT =
  /^(?:The|A) (first attempt|retry|redelivery) (?:to deliver|of) (\S+) to \S+ (?:\w+ ){0,2}(\d{3})?\b/;

/** The title for a row. That of a delivery attempt begins with its result and omits the webhook. */
export function toShortTitle(title: string): string {
  const [, kind, event, status] = ATTEMPT.exec(title) ?? [];
  return kind === undefined ? title : `${status ?? "no response"}: ${event}, ${kind}`;
}

/** The caller; empty if the request was answered before its credentials were read. */
export function describeCaller({ principal, decision }: Pick<RequestLine, "principal" | "decision">): string {
  return principal ?? (/^(route|upstream$|fault:)/.test(decision) ? "" : "anonymous");
}

/** "delayed 40 ms" if a fault delayed the answer. */
export function describeDelay({ fault }: Pick<Node, "fault">): string {
  return fault && fault.delay_ms > 0 ? `delayed ${formatDuration(fault.delay_ms)}` : "";
}

/** Counts of changed records, such as "+1 delivery", "+1 −2 messages". */
export function summarizeChanges({ entry }: Node): string {
  if (entry === undefined) return "";
  return Object.entries(entry.changes)
    .map(([collection, { added, removed, changed }]) => {
      const counts = [added && `+${added}`, removed && `−${removed}`, changed && `~${changed}`].filter(
        Boolean,
      );
      const words =
        added + removed + changed === 1 ? toSingularName(collection) : collection.replaceAll("_", " ");
      return `${counts.join(" ")} ${words}`;
    })
    .join(", ");
}

/** "34 ms", "1.2 s", "2 min". */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

const STEP_EXPLANATIONS: Record<string, string> = {
  route: "No operation matches this method and path. The API view lists all operations.",
  auth: "The request has no valid credentials.",
  "rate-limit": "The rate limit was exceeded.",
  validation: "The request does not match the operation’s schema.",
  spending: "The spending limit of the organization or API key was reached.",
  rule: "The request breaks a business rule of the operation.",
  store: "The change could not be saved, so it was undone.",
  limit: "The sandbox has reached a limit of its size, or of requests that wait.",
  upstream: "No operation matches this path, so the request was forwarded to the upstream server.",
  internal: "Understudy failed. This is a bug in Understudy.",
};

/** In place of the explanation of the step `validation`. */
const BODY_EXPLANATIONS: Readonly<Record<string, string>> = {
  INVALID_JSON: "The request’s body is not valid JSON.",
  PAYLOAD_TOO_LARGE: "The request’s body is too large.",
  UNSUPPORTED_MEDIA_TYPE: "The operation does not accept a body of this content type.",
};

/** One sentence that explains the response; the journal's reasons follow it. */
export function explainDecision(entry: JournalEntry): string {
  const { fault } = entry;
  const delay = fault && fault.delay_ms > 0 ? formatDuration(fault.delay_ms) : undefined;
  const explanation = fault && fault.replaced !== "nothing" ? explainFault(entry) : explainAnswer(entry);
  if (fault === undefined || delay === undefined) return explanation;
  return fault.replaced === "nothing"
    ? `${explanation} A fault delayed the response by ${delay} and changed nothing else (${formatRuleName(fault.by)}).`
    : `${explanation} The fault delayed the response by ${delay}.`;
}

/** A reason of the server, with the console's names of rules and connection faults. */
export function formatReason(reason: string): string {
  return reason
    .replace(
      /^(nearest )?(?:rule )?(\S+\/\S+)(?= (triggered|matched|delays|did not match)\b)/,
      (_, nearest, by) => (nearest ?? "") + formatRuleName(by),
    )
    .replace(/^wire fault (\w+)$/, (_, name: keyof typeof WIRE_WORDS) => WIRE_WORDS[name] ?? name);
}

function explainAnswer(entry: JournalEntry): string {
  const { decision, status, code, operation, reasons, fault } = entry;
  const caller = entry.principal ?? "an anonymous caller";
  if (decision === "fault:header/refused") return "The fault header of the request is invalid.";
  if (decision === "ok" || (fault !== undefined && decision.startsWith("fault:"))) {
    return status < 400 ? `${operation} succeeded for ${caller}.` : `${operation} returned ${status}.`;
  }
  if (decision === "access") return explainAccess(entry, caller);
  if (decision === "validation" && code !== null && Object.hasOwn(BODY_EXPLANATIONS, code))
    return BODY_EXPLANATIONS[code]!;
  // Only errors of own operations have a reason that begins so.
  if (decision === "internal" && reasons.some((reason) => reason.startsWith(`${operation} `)))
    return `Your own operation ${operation} failed. Correct its declaration.`;
  return STEP_EXPLANATIONS[decision] ?? `Decided by ${decision}.`;
}

/** A 404 also hides what the caller may not see (G03). */
function explainAccess({ status, reasons }: JournalEntry, caller: string): string {
  const reason = reasons.at(-1);
  if (reason && /was not found: |is not allowed to do this/.test(reason)) return reason;
  if (status === 404) return `The object does not exist, or ${caller} is not allowed to see it.`;
  return `${caller} is not allowed to do this${reason ? `: ${reason}` : ""}`;
}

function explainFault({ kind, fault, status, history, operation }: JournalEntry): string {
  const { replaced, by } = fault!;
  const isDelivery = kind === "delivery";
  const isBroken = replaced === "connection";
  const answer = status === 0 ? "no response" : isBroken ? `a damaged ${status}` : `${status}`;
  const explanation = isBroken
    ? `A fault broke the connection; the ${isDelivery ? "sender" : "client"} got ${answer} (${formatRuleName(by)}).`
    : `A fault replaced the ${isDelivery ? "receiver’s response" : "response"} with ${answer} (${formatRuleName(by)}).`;
  if (isDelivery) return explanation;
  if (history === null) return `${explanation} No change was recorded.`;
  return `${explanation} ${operation} ran first, and its change stays.`;
}
