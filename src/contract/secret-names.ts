/**
 * What is a secret by its name or by its looks: the one list for everything that shows or keeps what clients sent, which
 * is journal, HAR and console, recordings, and bundles.
 */

/** Names of JSON fields and of query parameters, as a part of a pattern that takes them in any case. */
export const SECRET_NAMES =
  "(?:api[_-]?key|access_token|refresh_token|id_token|token|client_secret|secret|password|authorization)";

/** Headers; a name of somebody's own tells what it holds by its last word. */
export const SECRET_HEADER =
  /^(?:(?:x-)?api-key|(?:set-)?cookie|.*(?:token|secret|password|authorization))$/i;

/** API keys and webhook secrets, wherever they stand; what follows the prefix is the first group. */
export const API_KEY = /\bak_([A-Za-z0-9]{8,})/g;
export const WEBHOOK_SECRET = /\bwhsec_([A-Za-z0-9_+/=-]+)/g;

/**
 * Access tokens, tokens of upload URLs and the like: no id is as long, and no word has digits in it. No
 * lookahead and no alternatives: bodies are megabytes of whatever a client sends.
 */
export const LONG_TOKEN = /[A-Za-z0-9_-]{40,}/g;
