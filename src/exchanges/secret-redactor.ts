/** What stands in place of a secret; it says that something was there. */
export const MASK = "***";

const SECRET_HEADERS = new Set([
  "api-key",
  "x-api-key",
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
]);
const SECRET_NAME =
  "(?:api[_-]?key|access_token|refresh_token|id_token|token|client_secret|secret|password|authorization)";
const SECRET_FIELD = new RegExp(`^${SECRET_NAME}$`, "i");
/** In a body that is not JSON after all: `"secret": "…"` up to the end of the text or of its string. */
const SECRET_PAIR = new RegExp(`("${SECRET_NAME}"\\s*:\\s*)("(?:[^"\\\\]|\\\\.)*"?|[^,}\\]\\s]+)`, "gi");

/** Secrets that can be told by their looks, wherever they stand. */
const KEY = /\bak_[A-Za-z0-9]{8,}/g;
const WEBHOOK_SECRET = /\bwhsec_[A-Za-z0-9_+/=-]+/g;
/**
 * Access tokens, tokens of upload URLs and the like: no id is as long, and no word has digits in it. No
 * lookahead and no alternatives: bodies are megabytes of whatever a client sends.
 */
const LONG_TOKEN = /[A-Za-z0-9_-]{40,}/g;

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
      if (equals >= 0 && SECRET_FIELD.test(decoded(name))) return `${name}=${MASK}`;
      return shortened(pair);
    })
    .join("&");
}

function shortened(text: string): string {
  return text
    .replace(KEY, `ak_${MASK}`)
    .replace(WEBHOOK_SECRET, `whsec_${MASK}`)
    .replace(LONG_TOKEN, (token) => (/\d/.test(token) ? MASK : token));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function redactHeader(name: string, value: string): string {
  const lower = name.toLowerCase();
  if (SECRET_HEADERS.has(lower)) {
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
  const repeats = typeof about === "string" && SECRET_FIELD.test(about.split(/[.[]/).at(-1)!);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const secret = SECRET_FIELD.test(name) || (repeats && name === "value");
      return [name, secret && inner !== null && inner !== undefined ? MASK : redactJson(inner)];
    }),
  );
}

/** A body that claims to be JSON and is not. */
export function redactBrokenJson(text: string): string {
  return redactText(text.replace(SECRET_PAIR, `$1"${MASK}"`));
}
