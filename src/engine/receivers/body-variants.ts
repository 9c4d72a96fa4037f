import { EMPTY_BYTES, fromUtf8, toBase64, toLatin1, toUtf8 } from "../bytes.ts";
import { isJsonObject } from "../contract/schema.ts";

/** Larger bodies are not serialised again, so that explaining a mismatch is cheap for every body. */
const MAX_EXAMINED_BYTES = 256 * 1024;
/** A lower limit for bodies that are joined with a timestamp, since there are up to eighty ways to join them. */
const MAX_JOINED_BYTES = 32 * 1024;

const BYTE_ORDER_MARK = "\uFEFF";

type Variant = [label: string, bytes: Uint8Array];

/**
 * The bytes that may have been signed instead of the body: other line ends, other white space at both ends, the JSON
 * serialised again by common libraries, and common mistakes. Lazy, since most callers stop early.
 */
export function* listBodyVariants(body: Uint8Array, timestamp?: string): Generator<Variant> {
  yield ["an empty body, as when it was read before being signed", EMPTY_BYTES];
  for (const text of ["[object Object]", "{}", "[]", "undefined", "null", "None"])
    yield [`the text "${text}", as when the body was not parsed`, toUtf8(text)];
  if (body.length > MAX_EXAMINED_BYTES) return;
  const text = fromUtf8(body);
  const seen = new Set([text]);
  for (const [label, variant] of [
    ...listTextVariants(text),
    ...listJsonVariants(text),
    ...listJoinings(text, timestamp),
  ]) {
    if (seen.has(variant)) continue;
    seen.add(variant);
    yield [label, toUtf8(variant)];
  }
  yield ["the body encoded in base64, as gateways of cloud functions pass it", toUtf8(toBase64(body))];
  yield ["the body as Python's bytes, which str() writes", toUtf8(formatPythonBytes(body))];
  yield [
    "the body's bytes as JSON.stringify writes Node's `Buffer`",
    toUtf8(JSON.stringify({ type: "Buffer", data: [...body] })),
  ];
  yield ["the numbers of its bytes, which String() writes", toUtf8([...body].join(","))];
  yield ["the body read as Latin-1 and written as UTF-8", toUtf8(toLatin1(body))];
  const encodeUnits = (toBytes: (code: number) => number | number[]) =>
    Uint8Array.from(text.split("").flatMap((unit) => toBytes(unit.charCodeAt(0))));
  yield ["the text written as Latin-1", encodeUnits((code) => (code > 0xff ? QUESTION_MARK : code))];
  yield ["the text written as ASCII", encodeUnits((code) => (code > 0x7f ? QUESTION_MARK : code))];
  yield ["the text written as UTF-16", encodeUnits((code) => [code & 0xff, code >> 8])];
}

const QUESTION_MARK = 0x3f;

function listTextVariants(text: string): [string, string][] {
  return [
    ["the body without the whitespace at its ends", text.trim()],
    ["the body with a line break at its end", `${text}\n`],
    ["the body with a carriage return and a line break at its end", `${text}\r\n`],
    ["the body with a space at its end", `${text} `],
    ["the body with a NUL at its end", `${text}\0`],
    ["the body with LF line ends", text.replaceAll("\r\n", "\n")],
    ["the body with CRLF line ends", text.replaceAll(/\r?\n/g, "\r\n")],
    ["the body without its byte-order mark", text.replace(BYTE_ORDER_MARK, "")],
    ["the body with a byte-order mark", BYTE_ORDER_MARK + text],
    ["the body in the Unicode form NFD, with accents as characters of their own", text.normalize("NFD")],
    ["the body in the Unicode form NFC, with accents joined to their letters", text.normalize("NFC")],
    ["the body URL-encoded", encodeURIComponent(text)],
    ["the body URL-encoded by Python's quote", encodeLikePython(text)],
    ["the body URL-encoded, with + for spaces", new URLSearchParams([["", text]]).toString().slice(1)],
  ];
}

function listJsonVariants(text: string): [string, string][] {
  try {
    const value: unknown = JSON.parse(text.replace(BYTE_ORDER_MARK, ""));
    return [
      ...listWrongPayloads(value, text),
      ...listSpellings("the JSON serialised again", value),
      ...listSpellings("the JSON serialised again with sorted keys", sortKeys(value)),
    ];
  } catch {
    // Not JSON, or nested deeper than the stack allows: there is nothing to serialise.
    return [];
  }
}

/** The payload encoded twice, its fields in another format than JSON, or its data alone. */
function listWrongPayloads(value: unknown, text: string): [string, string][] {
  const payloads: [string, string][] = [
    ["the JSON encoded twice, as a string in a string", JSON.stringify(text)],
  ];
  if (!isJsonObject(value)) return payloads;
  payloads.push(
    ["the payload as a Python dict, which str() writes", formatLikePython(value, toPythonLiteral)],
    ["the payload's fields as a URL-encoded form", toForm(value)],
    [
      "the payload's fields as URLSearchParams writes them",
      new URLSearchParams(value as Record<string, string>).toString(),
    ],
  );
  return value["data"] === undefined
    ? payloads
    : [...payloads, ...listSpellings("only the payload's data", value["data"])];
}

/** Signing schemes of other services: a timestamp, and at times the delivery's id, joined with the body. */
function listJoinings(text: string, timestamp: string | undefined): [string, string][] {
  if (text.length > MAX_JOINED_BYTES) return [];
  const { timestamp: payloadTimestamp, delivery_id } = readPayload(text);
  const times: [string, string][] = [];
  for (const [label, time] of [
    ["the timestamp given", timestamp],
    ["the payload's timestamp", payloadTimestamp],
  ] as const) {
    if (time === undefined) continue;
    const milliseconds = /^\d{12,13}$/.test(time) ? Number(time) : Date.parse(time);
    const seconds = /^\d{9,10}$/.test(time) ? Number(time) : milliseconds / 1000;
    times.push([label, time]);
    if (Number.isNaN(seconds)) continue;
    times.push([`${label} in seconds`, String(Math.floor(seconds))]);
    times.push([`${label} in milliseconds`, String(seconds * 1000)]);
  }
  for (const missing of ["", "undefined", "null", "None"])
    times.push([`a timestamp that was left out (${JSON.stringify(missing)})`, missing]);
  return times.flatMap(([label, time]) => {
    const joinings: [string, string][] = [
      [`${label}, a dot and the body`, `${time}.${text}`],
      [`${label} and the body, joined by nothing`, time + text],
      [`${label}, a line break and the body`, `${time}\n${text}`],
      [`${label}, a colon and the body`, `${time}:${text}`],
      [`"v0:", ${label}, a colon and the body`, `v0:${time}:${text}`],
      [`the body and ${label}, joined by nothing`, text + time],
      [`the body, a dot and ${label}`, `${text}.${time}`],
    ];
    const withId = `the delivery's id, ${label} and the body, joined by dots`;
    if (delivery_id !== undefined) joinings.push([withId, `${delivery_id}.${time}.${text}`]);
    return joinings;
  });
}

function readPayload(text: string): { timestamp?: string; delivery_id?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return {};
    const { timestamp, delivery_id } = value;
    return {
      ...(typeof timestamp === "string" ? { timestamp } : {}),
      ...(typeof delivery_id === "string" ? { delivery_id } : {}),
    };
  } catch {
    return {};
  }
}

/** Characters that a common writer escapes, and how it spells an escape. */
const ESCAPES: readonly [label: string, characters: RegExp, spell: (match: string) => string][] = [
  ["compact, with non-ASCII characters escaped", /[\u0080-\uffff]/g, escapeUnicode],
  ["compact, with / escaped", /\//g, (slash) => `\\${slash}`],
  [
    "compact, with / and non-ASCII characters escaped",
    /[/\u0080-\uffff]/g,
    (character) => (character === "/" ? "\\/" : escapeUnicode(character)),
  ],
  [
    "as Go and Rails write it, with <, > and & as \\u003c, \\u003e and \\u0026",
    /[<>&\u2028\u2029]/g,
    escapeUnicode,
  ],
  ["as Gson writes it, with <, >, &, = and ' escaped", /[<>&='\u2028\u2029]/g, escapeUnicode],
  [
    "as .NET writes it, with escapes in upper case such as \\u003C",
    // The first alternative keeps escapes as they are, except that of a quotation mark.
    /\\.|[<>&'+`\u007f-\uffff]/g,
    (match) => (/^\\[^"]/.test(match) ? match : escapeUnicode(match.at(-1)!, "upper")),
  ],
];

/** The JSON as common serialisers write it by default, such as `JSON.stringify` and `json.dumps`. */
function listSpellings(label: string, value: unknown): [string, string][] {
  const compact = JSON.stringify(value);
  const spaced = formatLikePython(value, JSON.stringify);
  const indented = ([2, 4, "\t"] as const).flatMap((indent): [string, string][] => {
    const text = JSON.stringify(value, null, indent);
    const style = `indented by ${indent === "\t" ? "tabs" : indent}`;
    return [
      [style, text],
      [`${style}, with non-ASCII characters escaped`, escapeNonAscii(text)],
    ];
  });
  const escaped = ESCAPES.map(([style, characters, spell]): [string, string] => [
    style,
    compact.replaceAll(characters, spell),
  ]);
  const spellings: [string, string][] = [
    ["compact", compact],
    ...indented,
    ["with a space after : and ,", spaced],
    ["with a space after : and , and non-ASCII characters escaped", escapeNonAscii(spaced)],
    ...escaped,
    // Go's encoder appends a line end.
    ...[["compact", compact] as const, ...escaped].map(([style, text]): [string, string] => [
      `${style}, and a line break at its end`,
      `${text}\n`,
    ]),
  ];
  return spellings.map(([style, text]) => [`${label}, ${style}`, text]);
}

/** fromEntries defines properties rather than assigning them, so a `__proto__` key stays an ordinary one. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}

/** The spacing of Python's str and json.dumps, which differ in how they write a text, a truth value and null. */
function formatLikePython(value: unknown, formatScalar: (scalar: unknown) => string): string {
  const format = (part: unknown) => formatLikePython(part, formatScalar);
  if (Array.isArray(value)) return `[${value.map(format).join(", ")}]`;
  if (!isJsonObject(value)) return formatScalar(value);
  return `{${Object.keys(value)
    .map((key) => `${formatScalar(key)}: ${format(value[key])}`)
    .join(", ")}}`;
}

function toPythonLiteral(scalar: unknown): string {
  if (scalar === null) return "None";
  if (typeof scalar === "boolean") return scalar ? "True" : "False";
  return typeof scalar === "string" ? quoteLikePython(scalar) : JSON.stringify(scalar);
}

const PYTHON_ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** Python quotes by apostrophes, unless the text has apostrophes and no quotation marks. */
function quoteLikePython(text: string): string {
  const escaped = text.replaceAll(
    /[\\\u0000-\u001f\u007f-\u00a0\u00ad]/g,
    (character) => PYTHON_ESCAPES[character] ?? escapeByte(character),
  );
  return text.includes("'") && !text.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}

function formatPythonBytes(bytes: Uint8Array): string {
  return `b${quoteLikePython(toLatin1(bytes)).replaceAll(/[\u00a1-\u00ff]/g, escapeByte)}`;
}

function escapeByte(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

function encodeLikePython(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%2F", "/")
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Nested fields as the package `qs` writes them: `data[user_id]=usr_ada`. */
function toForm(fields: Record<string, unknown>): string {
  const listFields = (value: unknown, name: string): [string, string][] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, part]) =>
          listFields(part, name === "" ? key : `${name}[${key}]`),
        )
      : [[name, String(value ?? "")]];
  return new URLSearchParams(listFields(fields, "")).toString();
}

function escapeNonAscii(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, escapeUnicode);
}

/** `letterCase` is `unknown`, since `replaceAll` passes an offset as the second argument. */
function escapeUnicode(character: string, letterCase?: unknown): string {
  const hex = character.charCodeAt(0).toString(16).padStart(4, "0");
  return `\\u${letterCase === "upper" ? hex.toUpperCase() : hex}`;
}
