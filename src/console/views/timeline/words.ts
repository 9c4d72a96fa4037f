import type { JournalEntry } from "../../api/types.ts";
import { recordWords } from "../../parts/counted.ts";
import type { Node } from "./nodes.ts";

const KINDS = {
  request: "request",
  control: "control call",
  timer: "timer",
  delivery: "delivery",
  scenario: "faults",
  restore: "time travel",
} as const;

/** What kind of thing it was, in a word. */
export function kindOf({ request, entry }: Node): string {
  return request ? "request" : KINDS[entry!.kind];
}

/** What a row says: the request's line, or the sentence of the history. */
export function titleOf({ request, entry }: Node): string {
  if (request === undefined) return entry!.title;
  return `${request.method} ${request.path}${request.query === "" ? "" : `?${request.query}`}`;
}

const ATTEMPT =
  /^(?:The|A) (first attempt|retry|redelivery) to deliver (\S+) to \S+ (?:was (answered \d+)|got (no answer))/;

/** The same for a narrow row: of an attempt what came of it first, and not to whom. */
export function shortTitleOf(node: Node): string {
  const title = titleOf(node);
  const [, kind, event, answered, none] = ATTEMPT.exec(title) ?? [];
  return kind === undefined ? title : `${answered ?? none}: ${event}, ${kind}`;
}

/** "+1 delivery", "+1 −2 messages": what it changed, in numbers. */
export function changesOf({ entry }: Node): string {
  if (entry === undefined) return "";
  return Object.entries(entry.changes)
    .map(([collection, { added, removed, changed }]) => {
      const counts = [added && `+${added}`, removed && `−${removed}`, changed && `~${changed}`].filter(
        Boolean,
      );
      const words =
        added + removed + changed === 1 ? recordWords(collection) : collection.replaceAll("_", " ");
      return `${counts.join(" ")} ${words}`;
    })
    .join(", ");
}

/** "34 ms", "1.2 s", "2 min": by the clock on the wall, whatever the sandbox's does. */
export function waitWords(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

const STEPS: Record<string, string> = {
  route: "No operation answers this method and path.",
  auth: "The credentials were refused.",
  "rate-limit": "The caller had used up its requests for now.",
  validation: "What was sent does not fit what the operation takes.",
  access: "The caller may not do this here.",
  spending: "The organization or key had spent its budget.",
  rule: "A rule of the operation refused it.",
  internal: "The server failed; this is a defect of Understudy.",
};

/** Why it was answered as it was, in a sentence; reasons follow it. */
export function whyOf({ decision, status, operation, principal }: JournalEntry): string {
  if (decision.startsWith("fault:")) return faultSentence(decision.slice("fault:".length), status);
  if (decision === "ok") {
    return status < 400
      ? `${principal ?? "An unknown caller"} asked for ${operation}, everything was in order, and it was done.`
      : `${operation} answered ${status} by its own rules.`;
  }
  // What must not be seen is said not to be there (G03), and so is what is not.
  if (decision === "access" && status === 404)
    return "What was asked for is not there, or not for this caller.";
  return STEPS[decision] ?? `It was decided by ${decision}.`;
}

function faultSentence(origin: string, status: number): string {
  const [source, rule] = origin.split("/");
  const what = status === 0 ? "A fault broke the connection" : "A fault answered instead of the operation";
  if (source === "header") return `${what}: the request asked for it by a header (${rule}).`;
  if (source === "inline") return `${what}: the inline rule ${rule}.`;
  return `${what}: rule ${rule} of the scenario ${source}.`;
}
