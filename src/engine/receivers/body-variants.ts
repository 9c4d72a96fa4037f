import { EMPTY_BYTES, fromUtf8, toLatin1, toUtf8 } from "../bytes.ts";

/** Larger bodies are not re-serialised: explaining a mismatch must stay cheap whatever anyone sends. */
const MAX_EXAMINED_BYTES = 256 * 1024;
/** There are forty ways to join a timestamp. */
const MAX_JOINED_BYTES = 32 * 1024;

const BYTE_ORDER_MARK = "\uFEFF";

type Variant = [label: string, bytes: Uint8Array];

/**
 * The bytes that may have been signed instead of the body: other line ends and edges, the JSON serialised again by
 * common writers, and the usual accidents. Lazy, since most callers stop early.
 */
export function* bodyVariants(body: Uint8Array, timestamp?: string): Generator<Variant> {
  yield ["an empty body, as when it was read before being signed", EMPTY_BYTES];
  yield ['the text "[object Object]"', toUtf8("[object Object]")];
  if (body.length > MAX_EXAMINED_BYTES) return;
  const text = fromUtf8(body);
  for (const [label, variant] of [
    ...textVariants(text),
    ...jsonVariants(text),
    ...joinings(text, timestamp),
  ]) {
    if (variant !== text) yield [label, toUtf8(variant)];
  }
  yield ["the body read as Latin-1 and written as UTF-8", toUtf8(toLatin1(body))];
}

function textVariants(text: string): [string, string][] {
  return [
    ["the body without the whitespace at its ends", text.trim()],
    ["the body with a line break at its end", `${text}\n`],
    ["the body with LF line ends", text.replaceAll("\r\n", "\n")],
    ["the body with CRLF line ends", text.replaceAll(/\r?\n/g, "\r\n")],
    ["the body without its byte-order mark", text.replace(BYTE_ORDER_MARK, "")],
    ["the body with a byte-order mark", BYTE_ORDER_MARK + text],
  ];
}

function jsonVariants(text: string): [string, string][] {
  try {
    const value: unknown = JSON.parse(text.replace(BYTE_ORDER_MARK, ""));
    return [
      ...selections(value, text),
      ...spellings("the JSON serialised again", value),
      ...spellings("the JSON serialised again with sorted keys", sortKeys(value)),
    ];
  } catch {
    // Not JSON, or nested deeper than the stack allows: there is nothing to serialise.
    return [];
  }
}

/** The wrong part of the payload, or too much of it. */
function selections(value: unknown, text: string): [string, string][] {
  const found: [string, string][] = [
    ["the JSON encoded twice, as a string in a string", JSON.stringify(text)],
  ];
  if (!isObject(value)) return found;
  if (value["data"] !== undefined) found.push(["only the payload's data", JSON.stringify(value["data"])]);
  return found;
}

/** Signing schemes of other services: a timestamp, and at times the delivery's id, joined with the body. */
function joinings(text: string, timestamp: string | undefined): [string, string][] {
  if (text.length > MAX_JOINED_BYTES) return [];
  const { timestamp: stated, delivery_id } = readEnvelope(text);
  const times: [string, string][] = timestamp === undefined ? [] : [["the timestamp given", timestamp]];
  if (stated !== undefined) {
    times.push(["the payload's timestamp", stated]);
    const instant = Date.parse(stated);
    if (!Number.isNaN(instant)) {
      times.push(["the payload's timestamp in seconds", String(Math.floor(instant / 1000))]);
      times.push(["the payload's timestamp in milliseconds", String(instant)]);
    }
  }
  return times.flatMap(([label, time]): [string, string][] => [
    [`${label}, a dot and the body`, `${time}.${text}`],
    [`${label} and the body, joined by nothing`, time + text],
    [`${label}, a line break and the body`, `${time}\n${text}`],
    [`${label}, a colon and the body`, `${time}:${text}`],
    [`"v0:", ${label}, a colon and the body`, `v0:${time}:${text}`],
    [`the body and ${label}, joined by nothing`, text + time],
    [`the body, a dot and ${label}`, `${text}.${time}`],
    ...(delivery_id === undefined
      ? []
      : [
          [`the delivery's id, ${label} and the body, joined by dots`, `${delivery_id}.${time}.${text}`] as [
            string,
            string,
          ],
        ]),
  ]);
}

function readEnvelope(text: string): { timestamp?: string; delivery_id?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return {};
    const { timestamp, delivery_id } = value;
    return {
      ...(typeof timestamp === "string" ? { timestamp } : {}),
      ...(typeof delivery_id === "string" ? { delivery_id } : {}),
    };
  } catch {
    return {};
  }
}

/** One reader's `JSON.stringify` is another's `json.dumps`: the default spellings of common serialisers. */
function spellings(label: string, value: unknown): [string, string][] {
  const compact = JSON.stringify(value);
  const spaced = pythonStyle(value);
  const slashed = compact.replaceAll("/", "\\/");
  return [
    [`${label}, compact`, compact],
    [`${label}, indented by 2`, JSON.stringify(value, null, 2)],
    [`${label}, indented by 4`, JSON.stringify(value, null, 4)],
    [`${label}, indented by tabs`, JSON.stringify(value, null, "\t")],
    [`${label}, with a space after : and ,`, spaced],
    [`${label}, with a space after : and , and non-ASCII characters escaped`, escapeNonAscii(spaced)],
    [`${label}, compact, with non-ASCII characters escaped`, escapeNonAscii(compact)],
    [`${label}, compact, with / escaped`, slashed],
    [`${label}, compact, with / and non-ASCII characters escaped`, escapeNonAscii(slashed)],
    [`${label}, compact, with <, > and & escaped`, compact.replaceAll(/[<>&]/g, unicodeEscape)],
  ];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** fromEntries defines properties rather than assigning them, so a `__proto__` key stays an ordinary one. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}

/** The default spelling of Python's json.dumps. */
function pythonStyle(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonStyle).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).map((key) => `${JSON.stringify(key)}: ${pythonStyle(value[key])}`);
  return `{${members.join(", ")}}`;
}

function escapeNonAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, unicodeEscape);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
