import { countUtf8Bytes, toLatin1 } from "../../engine/bytes.ts";
import { isFormType } from "../../engine/contract/secret-names.ts";
import { toPairs } from "../../engine/maps.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { BundleAnswer, BundleBody } from "./bundle.ts";
import type { SecretPlaceholders } from "./secret-placeholders.ts";

/** Headers that may differ (interfaces.md 5), and headers of the connection. */
const IGNORED_HEADERS = new Set(["date", "service-processing-ms", "connection", "keep-alive"]);

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The answer of a journal entry, with placeholders for secrets; a replay compares its own answer with it. */
export function toRecordedAnswer(
  entry: JournalEntry,
  answerNumber: number,
  secrets: SecretPlaceholders,
): BundleAnswer {
  const headers = toPairs(entry.response_headers).filter(
    ([name]) => !IGNORED_HEADERS.has(name.toLowerCase()),
  );
  const content = decode(entry.response_body);
  secrets.registerIssued(answerNumber, headers.map(([, value]) => value).join("\n"));
  if (content !== undefined) secrets.registerIssued(answerNumber, getText(content));
  const { streamed } = entry;
  return {
    status: entry.status,
    headers: headers.map(([name, value]) => [name, secrets.redactAnswer(value)]),
    ...(content === undefined ? {} : { body: mask(content, (text) => secrets.redactAnswer(text)) }),
    ...(typeof streamed === "object" && content === undefined ? { digest: streamed } : {}),
    ...(streamed === "under way" || streamed === "cut" ? { open: true } : {}),
  };
}

export function toRecordedBody(
  bytes: Uint8Array | string | undefined,
  secrets: SecretPlaceholders,
  contentType?: string,
): BundleBody | undefined {
  const content = decode(bytes);
  return (
    content &&
    mask(content, (text) => (isFormType(contentType) ? secrets.redactForm(text) : secrets.redact(text)))
  );
}

/** UTF-8 as `text`, other bytes as `latin1`; undefined for no body. */
function decode(bytes: Uint8Array | string | undefined): BundleBody | undefined {
  if (bytes === undefined || bytes.length === 0) return undefined;
  if (typeof bytes === "string") return { text: bytes };
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { latin1: toLatin1(bytes) };
  }
}

function mask(body: BundleBody, replace: (text: string) => string): BundleBody {
  return "text" in body ? { text: replace(body.text) } : { latin1: replace(body.latin1) };
}

export interface Difference {
  /** `status`, `header x-request-id`, `body at byte 120`. */
  what: string;
  recorded: string;
  replayed: string;
}

/** The first difference between two answers; undefined if they are equal, byte for byte. */
export function findFirstDifference(recorded: BundleAnswer, replayed: BundleAnswer): Difference | undefined {
  if (recorded.status !== replayed.status) {
    return { what: "status", recorded: String(recorded.status), replayed: String(replayed.status) };
  }
  return findHeaderDifference(recorded.headers, replayed.headers) ?? findBodyDifference(recorded, replayed);
}

function findHeaderDifference(
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

function findBodyDifference(recorded: BundleAnswer, replayed: BundleAnswer): Difference | undefined {
  if (recorded.open) return undefined;
  const { digest } = recorded;
  if (digest !== undefined || replayed.digest !== undefined) {
    const show = (one: BundleAnswer["digest"]) =>
      one === undefined ? "(not streamed)" : `${one.bytes} bytes, sha256 ${one.sha256}`;
    if (digest?.sha256 === replayed.digest?.sha256) return undefined;
    return { what: "body (streamed)", recorded: show(digest), replayed: show(replayed.digest) };
  }
  const before = getText(recorded.body);
  const after = getText(replayed.body);
  if (before === after) return undefined;
  let at = 0;
  while (at < before.length && before[at] === after[at]) at += 1;
  const isLatin1 = recorded.body !== undefined && "latin1" in recorded.body;
  const offset = isLatin1 ? at : countUtf8Bytes(before.slice(0, at));
  return {
    what: `body at byte ${offset}`,
    recorded: showContext(before, at),
    replayed: showContext(after, at),
  };
}

function getText(body: BundleBody | undefined): string {
  if (body === undefined) return "";
  return "text" in body ? body.text : body.latin1;
}

const CHARACTERS_BEFORE = 40;
const CHARACTERS_AFTER = 60;

/** The difference with its context, on one line. */
function showContext(text: string, at: number): string {
  const start = Math.max(0, at - CHARACTERS_BEFORE);
  const end = Math.min(text.length, at + CHARACTERS_AFTER);
  const excerpt = JSON.stringify(text.slice(start, end)).slice(1, -1);
  return `${start > 0 ? "…" : ""}${excerpt}${end < text.length ? "…" : ""}${at >= text.length ? "(ends here)" : ""}`;
}
