import {
  API_KEY,
  isSecretName,
  LONG_TOKEN,
  SECRET_HEADER,
  SECRET_NAMES,
  SECRET_PART,
  USER_INFO,
  WEBHOOK_SECRET,
} from "../../engine/contract/secret-names.ts";

/** What stands in place of a secret; it says that something was there. */
export const MASK = "***";

/** In a body that is not JSON after all: `"secret": "…"` up to the end of the text or of its string. */
const SECRET_PAIR = new RegExp(`("${SECRET_NAMES}"\\s*:\\s*)("(?:[^"\\\\]|\\\\.)*"?|[^,}\\]\\s]+)`, "gi");

/** Any text: what can be told by its looks. Keys keep their prefix, so that a reader sees what was there. */
export function redactText(text: string): string {
  if (text.length < 10) return text;
  const masked = shortened(text);
  return masked.includes("?")
    ? masked.replace(/\?[^\s"'<>#]+/g, (query) => `?${redactQuery(query.slice(1))}`)
    : masked;
}

export function redactQuery(query: string): string {
  return query
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      const name = equals < 0 ? pair : pair.slice(0, equals);
      if (equals >= 0 && isSecretName(name)) return `${name}=${MASK}`;
      return shortened(pair);
    })
    .join("&");
}

function shortened(text: string): string {
  return text
    .replace(API_KEY, `ak_${MASK}`)
    .replace(WEBHOOK_SECRET, `whsec_${MASK}`)
    .replace(USER_INFO, `$1${MASK}`)
    .replace(LONG_TOKEN, (token) => (/\d/.test(token) ? MASK : token));
}

/** What signs a delivery (6.3): nobody gets the secret from it, and a receiver's developer compares it with theirs. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

export function redactHeader(name: string, value: string): string {
  if (/-signature$/i.test(name) && SIGNATURE.test(value)) return value;
  if (SECRET_HEADER.test(name)) {
    const scheme = /^(Bearer|Basic|Digest)\s/i.exec(value)?.[1];
    return scheme === undefined ? MASK : `${scheme} ${MASK}`;
  }
  return redactText(value);
}

/** A JSON value: fields by their name, texts by their looks. */
export function redactJson(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redactJson);
  if (typeof value !== "object" || value === null) return value;
  // An error says which field it is about, and repeats its value beside it (G08).
  const about = (value as Record<string, unknown>)["field"];
  const repeats = typeof about === "string" && isSecretName(about.split(/[.[]/).at(-1)!);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const secret = isSecretName(name) || (repeats && name === "value");
      return [name, secret && inner !== null && inner !== undefined ? MASK : redactJson(inner)];
    }),
  );
}

/** A body that claims to be JSON and is not, or a multipart form. */
export function redactBrokenJson(text: string): string {
  return redactText(text.replace(SECRET_PAIR, `$1"${MASK}"`).replace(SECRET_PART, `$1${MASK}`));
}
