import type { JournalEntry } from "../../sandbox/journal.ts";
import { maskBrokenJson, maskHeader, maskJson, maskQuery, maskText } from "./mask-secrets.ts";

export interface RenderedMessage {
  headers: { name: string; value: string }[];
  /** JSON as a value, text as text, `{bytes}` for anything else; absent where there was none. */
  body?: unknown;
}

export interface RenderedEntry {
  id: string;
  sequence: number;
  at: string;
  operation: string | null;
  method: string;
  path: string;
  status: number;
  code: string | null;
  duration_ms: number;
  principal: string | null;
  api_key: string | null;
  decision: string;
  reasons: readonly string[];
  request: RenderedMessage & { query: string };
  response: RenderedMessage;
  warnings: readonly string[];
}

/** An entry as anyone may see it: this is the one way out of the journal, and secrets end here. */
export function renderEntry(entry: JournalEntry): RenderedEntry {
  return {
    id: entry.id,
    sequence: entry.sequence,
    at: new Date(entry.at).toISOString(),
    operation: entry.operation,
    method: entry.method,
    path: maskText(entry.path),
    status: entry.status,
    code: entry.code,
    duration_ms: entry.duration_ms,
    principal: entry.principal,
    api_key: entry.api_key,
    decision: entry.decision,
    reasons: entry.reasons.map(maskText),
    request: {
      query: maskQuery(entry.query),
      ...renderMessage(entry.request_headers, entry.request_body),
    },
    response: renderMessage(entry.response_headers, entry.response_body),
    warnings: entry.warnings.map(maskText),
  };
}

function renderMessage(flat: readonly string[], bytes: Buffer | string | undefined): RenderedMessage {
  const headers: RenderedMessage["headers"] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    headers.push({ name: flat[i]!, value: maskHeader(flat[i]!, flat[i + 1]!) });
  }
  if (bytes === undefined || bytes.length === 0) return { headers };
  return { headers, body: renderBody(bytes, headers) };
}

function renderBody(bytes: Buffer | string, headers: RenderedMessage["headers"]): unknown {
  const type = headers.find(({ name }) => name.toLowerCase() === "content-type")?.value ?? "";
  const text = typeof bytes === "string" ? bytes : decode(bytes);
  if (text === undefined) return { bytes: bytes.length };
  if (!/json/i.test(type)) return maskBrokenJson(text);
  try {
    return maskJson(JSON.parse(text));
  } catch {
    return maskBrokenJson(text);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The request's JSON body as it was sent, for matching; undefined where there is none. Never shown. */
export function requestBody({ request_body }: JournalEntry): unknown {
  if (request_body === undefined || request_body.length === 0) return undefined;
  try {
    return JSON.parse(request_body.toString());
  } catch {
    return undefined;
  }
}
