import type { BundleAnswer, BundleBody } from "./bundle.ts";

export interface Difference {
  /** `status`, `header x-request-id`, `body at 120`. */
  what: string;
  recorded: string;
  replayed: string;
}

/** The first difference between two answers; undefined when they are the same, byte for byte. */
export function firstDifference(recorded: BundleAnswer, replayed: BundleAnswer): Difference | undefined {
  if (recorded.status !== replayed.status) {
    return { what: "status", recorded: String(recorded.status), replayed: String(replayed.status) };
  }
  return headerDifference(recorded.headers, replayed.headers) ?? bodyDifference(recorded, replayed);
}

function headerDifference(
  recorded: readonly string[][],
  replayed: readonly string[][],
): Difference | undefined {
  for (let i = 0; i < Math.max(recorded.length, replayed.length); i++) {
    const [name, value] = recorded[i] ?? [];
    const [otherName, otherValue] = replayed[i] ?? [];
    if (name === otherName && value === otherValue) continue;
    const show = (header: string | undefined, text: string | undefined) =>
      header === undefined ? "(no more headers)" : `${header}: ${text}`;
    return {
      what: `header ${name ?? otherName}`,
      recorded: show(name, value),
      replayed: show(otherName, otherValue),
    };
  }
  return undefined;
}

function bodyDifference(recorded: BundleAnswer, replayed: BundleAnswer): Difference | undefined {
  if (recorded.open) return undefined;
  const { digest } = recorded;
  if (digest !== undefined || replayed.digest !== undefined) {
    const show = (one: BundleAnswer["digest"]) =>
      one === undefined ? "(not streamed)" : `${one.bytes} bytes, sha256 ${one.sha256}`;
    if (digest?.sha256 === replayed.digest?.sha256) return undefined;
    return { what: "body (streamed)", recorded: show(digest), replayed: show(replayed.digest) };
  }
  const before = contentOf(recorded.body);
  const after = contentOf(replayed.body);
  if (before === after) return undefined;
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const offset = Buffer.byteLength(
    before.slice(0, at),
    recorded.body && "latin1" in recorded.body ? "latin1" : "utf8",
  );
  return { what: `body at byte ${offset}`, recorded: around(before, at), replayed: around(after, at) };
}

function contentOf(body: BundleBody | undefined): string {
  if (body === undefined) return "";
  return "text" in body ? body.text : body.latin1;
}

const BEFORE = 40;
const AFTER = 60;

/** The place with its surroundings, on one line. */
function around(text: string, at: number): string {
  const start = Math.max(0, at - BEFORE);
  const end = Math.min(text.length, at + AFTER);
  const shown = JSON.stringify(text.slice(start, end)).slice(1, -1);
  return `${start > 0 ? "…" : ""}${shown}${end < text.length ? "…" : ""}${at >= text.length ? "(ends here)" : ""}`;
}
