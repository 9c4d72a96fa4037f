/**
 * Reads an address as users write it: `localhost:3000/x` means HTTP, `:3000` and `3000` a port of this machine. Returns
 * a string for an invalid address: the reason, as in `--url must be …`.
 */
export function readHttpUrl(address: string): URL | string {
  const text = String(address).trim();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  const problem = `must be an http or https URL, such as http://127.0.0.1:3000/path, not ${JSON.stringify(text.slice(0, 200))}`;
  if (typeof address !== "string") return problem;
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return problem;
  const withoutScheme = text.replace(/^https?:\/\//i, "").replace(/^:?(?=\d{1,5}(?:[/?#]|$))/, "localhost:");
  const full = `${scheme ?? "http"}://${withoutScheme}`;
  // `http:/x`, `http//x`, `http`, `http://` and `localhost:`: a URL parser would read another host, or ignore the mistake.
  if (/^(?:$|[/\\?#]|https?(?:\/\/|$)|[^/?#]*:(?:[/?#]|$))/i.test(withoutScheme) || !URL.canParse(full))
    return problem;
  const url = new URL(full);
  return url.username === "" && url.password === "" ? url : "must not contain credentials";
}

/** Decodes the characters that a segment of a path may contain as they are, `%7e` to `~`; `%2f` becomes `%2F`. */
export function normalizePath(path: string): string {
  if (!path.includes("%")) return path;
  return path.replace(/%[\da-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~!$&'()*+,;=:@-]/.test(character) ? character : escaped.toUpperCase();
  });
}

/** Decodes percent-encoding; a text with a malformed escape stays as it is. */
export function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Encodes spaces and characters other than ASCII; lone surrogates stay, since they have no encoding. */
export function encodePath(path: string): string {
  return path.replace(/[^\x21-\x7e\p{Surrogate}]+/gu, (text) => encodeURIComponent(text));
}

const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const LOOPBACK_ADDRESS = new RegExp(`^127(?:\\.${OCTET}){3}$`);

/**
 * Whether a host in lower case, as a URL has it, is this machine itself: four plain decimal numbers from 127, `[::1]`,
 * `localhost`, or a name below that (RFC 6761, 6.3). A URL parser also reads 2130706433, 0x7f.1 and 127.1 as loopback;
 * resolvers disagree on those.
 */
export function isLoopback(host: string): boolean {
  return host === "[::1]" || isLocalhost(host) || LOOPBACK_ADDRESS.test(host);
}

/** These names need no resolver. */
export function isLocalhost(name: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(name);
}
