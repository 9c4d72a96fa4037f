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
  // Without slashes, host or port, a URL parser would read another host.
  if (/^(?:$|[/\\?#]|https?\/\/|[^/?#]*:(?:[/?#]|$))/i.test(withoutScheme) || !URL.canParse(full))
    return problem;
  const url = new URL(full);
  return url.username === "" && url.password === "" ? url : "must not contain credentials";
}

/** Decodes the characters that a segment of a path may contain as they are; `%2F`, for example, remains. */
export function normalizePath(path: string): string {
  if (!path.includes("%")) return path;
  return path.replace(/%[\da-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[\w.~!$&'()*+,;=:@-]/.test(character) ? character : escaped.toUpperCase();
  });
}

/**
 * Whether a host in lower case, as a URL has it, is this machine itself: four plain decimal numbers from 127, `[::1]`,
 * `localhost`, or a name below that (RFC 6761, 6.3). A URL parser also reads 2130706433, 0x7f.1 and 127.1 as loopback;
 * resolvers disagree on those.
 */
export function isLoopback(host: string): boolean {
  if (host === "[::1]" || isLocalhost(host)) return true;
  const parts = host.split(".");
  return parts.length === 4 && parts[0] === "127" && parts.every(isOctet);
}

/** These names need no resolver. */
export function isLocalhost(name: string): boolean {
  return /^(.+\.)?localhost\.?$/.test(name);
}

function isOctet(text: string): boolean {
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= 255;
}
