import { decodeLeniently } from "./http-url.ts";

/**
 * Finds secrets by their name or their form, for everything that shows or stores requests: journal, HAR, console,
 * recordings and bundles.
 */

/** The setting `cors_credentials`, which bundles need, and the header of CORS are no secrets. */
const CREDENTIALS = "(?<!cors_|allow-)credentials?";

const SECRET_WORDS =
  "token|secret|password|passwd|pwd|passphrase|jwt|(?:api|private)[_-]?key|authorization|authentication|auth|bearer";

/**
 * Names of JSON fields, form fields, query parameters and headers, as a part of a case-insensitive pattern. The last
 * word of a name says what it contains, as in `signing_secret`, `accessToken` and `user[token]`.
 */
export const SECRET_NAMES = `(?:[\\w.[\\]-]{0,80}(?:${SECRET_WORDS}|${CREDENTIALS})(?:[[\\]][\\w[\\]-]{0,80})?)`;

const SECRET_NAME = new RegExp(`^${SECRET_NAMES}$`, "i");

/** @param name may be percent-encoded, as in a query or a form */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.includes("%") ? decodeLeniently(name) : name);
}

export const SECRET_HEADER = new RegExp(`^(?:(?:set-)?cookie|${SECRET_NAMES})$`, "i");

/** A text field of a multipart form: the first group is the text before its value, the second its value. */
export const SECRET_PART = new RegExp(
  `(\\bname="?${SECRET_NAMES}"?(?:;[^\\r\\n]*)?\\r?\\n(?:[^\\r\\n]+\\r?\\n)*\\r?\\n)([\\s\\S]*?)(?=\\r?\\n--|$)`,
  "gi",
);

/** The user and the password of a URL. */
export const USER_INFO = /(\w:\/\/)([^\s/?#@:"']{1,200}:[^\s/?#@"']{1,200})(?=@)/g;

export const isFormType = (type: string | undefined) =>
  /^\s*application\/x-www-form-urlencoded/i.test(type ?? "");

/** API keys and webhook secrets anywhere in a text; the first group is the part after the prefix. */
export const API_KEY = /\bak_([A-Za-z0-9]{8,})/g;
export const WEBHOOK_SECRET = /\bwhsec_([A-Za-z0-9_+/=-]+)/g;

/**
 * Access tokens, tokens of upload URLs and the like: ids and most words are shorter. The pattern has no lookahead and no
 * alternatives, since it searches megabytes of bodies; without a maximum, a word of 10 MB would exceed the stack.
 */
const LONG_WORD = /[A-Za-z0-9_-]{40,1000000}/g;
/** A part of a long name, such as `report`, `Acme`, `2026` or `v2`; those of random tokens mix letters and digits. */
const NAME_PART = /^([A-Za-z]?[a-z]{0,19}|[A-Z]{1,20}|[A-Za-z]?\d{1,8})$/;

const isToken = (word: string) =>
  /\d/.test(word) && !word.split(/[_-]/).every((part) => NAME_PART.test(part));

/** The long tokens in a text, with their positions. */
export function findLongTokens(text: string): { token: string; index: number }[] {
  return [...text.matchAll(LONG_WORD)]
    .map(({ 0: token, index }) => ({ token, index }))
    .filter(({ token }) => isToken(token));
}

export function replaceLongTokens(text: string, replace: (token: string) => string): string {
  return text.replace(LONG_WORD, (word) => (isToken(word) ? replace(word) : word));
}

/** A list or an object under the name of a secret. */
const NAMED_LIST = new RegExp(`"${SECRET_NAMES}"\\s*:\\s*(?=[[{])`, "gi");
/** A text, also one that the end cuts off, or the bracket of a list or an object; a colon follows a key. */
const JSON_TOKEN = /"((?:[^"\\]|\\.)*)(?:"(\s*:)?|\\?$)|[[\]{}]/g;

/** Replaces the texts, but not the keys, in each list or object under a secret's name; the body may be cut off. */
export function replaceInNamedLists(body: string, replace: (text: string) => string): string {
  let replaced = "";
  let end = 0;
  for (const { 0: name, index } of body.matchAll(NAMED_LIST)) {
    if (index < end) continue;
    replaced += body.slice(end, index) + name;
    end = index + name.length;
    let depth = 0;
    JSON_TOKEN.lastIndex = end;
    for (let match = JSON_TOKEN.exec(body); match !== null; match = JSON_TOKEN.exec(body)) {
      const [token, text, colon] = match;
      replaced += body.slice(end, match.index);
      replaced += text && colon === undefined ? `"${replace(text)}${token.slice(1 + text.length)}` : token;
      end = JSON_TOKEN.lastIndex;
      if (text !== undefined) continue;
      depth += token === "[" || token === "{" ? 1 : -1;
      if (depth === 0) break;
    }
  }
  return replaced + body.slice(end);
}
