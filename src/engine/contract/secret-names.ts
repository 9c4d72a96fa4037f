/**
 * Finds secrets by their name or their form: the one list for everything that shows or keeps what clients sent, which
 * is journal, HAR and console, recordings, and bundles.
 */

/** A setting and a header of CORS say whether credentials may be sent, and a bundle that loses the first does otherwise. */
const CREDENTIALS = "(?<!cors_|allow-)credentials?";

/**
 * Names of JSON fields, form fields, query parameters and headers, as a part of a pattern that takes them in any case: a
 * name tells what it holds by its last word, as `signing_secret` and `accessToken` do.
 */
export const SECRET_NAMES = `(?:[\\w-]{0,80}(?:${[
  ...["token", "secret", "password", "passwd", "pwd", "passphrase", "jwt", "(?:api|private)[_-]?key"],
  ...["authorization", "authentication", "auth", "bearer", CREDENTIALS],
].join("|")}))`;

const SECRET_NAME = new RegExp(`^${SECRET_NAMES}$`, "i");

/** Also the name of a parameter of a query or a form. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.includes("%") ? decoded(name) : name);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const SECRET_HEADER = new RegExp(`^(?:(?:set-)?cookie|${SECRET_NAMES})$`, "i");

/** A text field of a multipart form, with what comes before its value as the first group; its value is the second. */
export const SECRET_PART = new RegExp(
  `(\\bname="?${SECRET_NAMES}"?(?:;[^\\r\\n]*)?\\r?\\n(?:[^\\r\\n]+\\r?\\n)*\\r?\\n)([\\s\\S]*?)(?=\\r?\\n--|$)`,
  "gi",
);

/** The user and the password of a URL. */
export const USER_INFO = /(\w:\/\/)([^\s/?#@:"']{1,200}:[^\s/?#@"']{1,200})(?=@)/g;

export const isForm = (type: string | undefined) =>
  /^\s*application\/x-www-form-urlencoded/i.test(type ?? "");

/** API keys and webhook secrets, wherever they stand; what follows the prefix is the first group. */
export const API_KEY = /\bak_([A-Za-z0-9]{8,})/g;
export const WEBHOOK_SECRET = /\bwhsec_([A-Za-z0-9_+/=-]+)/g;

/**
 * Access tokens, tokens of upload URLs and the like: no id is as long, and no word has digits in it. No
 * lookahead and no alternatives: bodies are megabytes of whatever a client sends.
 */
export const LONG_TOKEN = /[A-Za-z0-9_-]{40,}/g;
