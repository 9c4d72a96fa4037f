import {
  API_KEY,
  isSecretName,
  replaceInNamedLists,
  replaceLongTokens,
  SECRET_HEADER,
  SECRET_NAMES,
  SECRET_PART,
  USER_INFO,
  WEBHOOK_SECRET,
} from "../engine/contract/secret-names.ts";

// Redacts secrets in texts that leave the process: archives, reports, the journal's listing. Unknown secrets are found
// by the name of their field or header and by their form; a known one is found in any spelling.

/** Replaces a secret; it shows that something was there. */
export const MASK = "***";

/** In a body that is not valid JSON: `"secret": "…"` up to the end of the text or of its string. */
const SECRET_PAIR = new RegExp(`("${SECRET_NAMES}"\\s*:\\s*)("(?:[^"\\\\]|\\\\.)*"?|[^,}\\]\\s]+)`, "gi");

/** A parameter of the query or the fragment of a URL. */
const PARAMETER = /([?&#])([^\s"'<>=&?#]{1,240})=[^\s"'<>&#]*/g;

/** Redacts what looks like a secret in any text. Keys keep their prefix, so that a reader sees what kind they were. */
export function redactText(text: string): string {
  // The shortest text with a secret is such as `?jwt=a`.
  if (text.length < 6) return text;
  return maskTokens(text).replace(PARAMETER, (pair, before: string, name: string) =>
    isSecretName(name) ? `${before}${name}=${MASK}` : pair,
  );
}

export function redactQuery(query: string): string {
  return query
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      const name = equals < 0 ? pair : pair.slice(0, equals);
      return equals >= 0 && isSecretName(name) ? `${name}=${MASK}` : maskTokens(pair);
    })
    .join("&");
}

function maskTokens(text: string): string {
  const masked = text
    .replace(API_KEY, `ak_${MASK}`)
    .replace(WEBHOOK_SECRET, `whsec_${MASK}`)
    .replace(USER_INFO, `$1${MASK}`);
  return replaceLongTokens(masked, () => MASK);
}

/** A delivery's signature (section 6.3): it does not give the secret away, and developers compare it with their own. */
const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

export function redactHeader(name: string, value: string): string {
  if (/-signature$/i.test(name) && SIGNATURE.test(value)) return value;
  if (!SECRET_HEADER.test(name)) return redactText(value);
  const scheme = /^(Bearer|Basic|Digest)\s/i.exec(value)?.[1];
  return scheme === undefined ? MASK : `${scheme} ${MASK}`;
}

/**
 * Redacts the fields of a JSON value whose name says that they are secret, and what looks like a secret in its texts.
 */
export function redactJson(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redactJson);
  if (typeof value !== "object" || value === null) return value;
  // An error names its field, and repeats the field's value beside it (G08).
  const fieldName = (value as Record<string, unknown>)["field"];
  const isValueSecret = typeof fieldName === "string" && isSecretName(fieldName.split(".").at(-1)!);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const isSecret = isSecretName(name) || (isValueSecret && name === "value");
      return [redactText(name), isSecret && inner !== null && inner !== undefined ? MASK : redactJson(inner)];
    }),
  );
}

/** Redacts a body that claims to be JSON and is not, or a multipart form. */
export function redactBrokenJson(text: string): string {
  const masked = replaceInNamedLists(text, () => MASK).replace(SECRET_PAIR, `$1"${MASK}"`);
  return redactText(masked.replace(SECRET_PART, `$1${MASK}`));
}

/** Shorter spellings of a secret are not looked for: other text may contain them by chance. */
const MIN_SPELLING = 8;

/** Redacts one known secret in all its spellings: a receiver may disclose it, and reports are passed around. */
export function createSecretRedactor(secret: string): (text: string) => string {
  const spellings = [...spellSecret(secret), ...listSecretParts(secret)];
  return (text) => spellings.reduce((rest, spelling) => rest.replaceAll(spelling, "[secret]"), text);
}

/** A webhook secret as it might be printed, the longest spelling first. */
export function spellSecret(secret: string): string[] {
  const withoutPrefix = secret.replace(/^whsec_/, "");
  const spellings = [secret, withoutPrefix].flatMap((text) => {
    const bytes = Buffer.from(text);
    const hex = bytes.toString("hex");
    const base64 = [bytes.toString("base64"), bytes.toString("base64url")];
    return [text, hex, hex.toUpperCase(), ...base64, encodeURIComponent(text)];
  });
  return [...new Set(spellings)]
    .filter((spelling) => spelling.length >= MIN_SPELLING)
    .sort((a, b) => b.length - a.length);
}

/** Halves of the secret, which disclose most of it; without ordinary words, which a text may contain by chance. */
export function listSecretParts(secret: string): string[] {
  const withoutPrefix = secret.replace(/^whsec_/, "");
  const length = Math.max(MIN_SPELLING, Math.ceil(withoutPrefix.length / 2));
  return listTextParts(withoutPrefix, length)
    .map(({ part }) => part)
    .filter((part) => /\d.*\d/.test(part) && /[a-z].*[a-z]/i.test(part));
}

/** Every part of `length` characters, with its position. */
export function listTextParts(text: string, length: number): { at: number; part: string }[] {
  return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => ({
    at,
    part: text.slice(at, at + length),
  }));
}
