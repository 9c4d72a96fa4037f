/** A Host header or the authority of an origin. */
export interface Authority {
  host: string;
  port: number | undefined;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::(\d{1,5}))?$/i;
const ORIGIN = /^https?:\/\/([^/?#@\s]+)$/i;

export function parseAuthority(text: string): Authority | undefined {
  const match = AUTHORITY.exec(text);
  if (match === null) return undefined;
  const port = match[2] === undefined ? undefined : Number(match[2]);
  if (port !== undefined && (port === 0 || port > 65_535)) return undefined;
  return { host: match[1]!.toLowerCase(), port };
}

/** Reads an Origin header; undefined for `null` and for schemes that no web page has. */
export function parseOrigin(origin: string): Authority | undefined {
  const match = ORIGIN.exec(origin);
  return match === null ? undefined : parseAuthority(match[1]!);
}

/**
 * Accepts `localhost`, four plain decimal numbers from 127, and `[::1]`. A URL parser also reads 2130706433, 0x7f.1 and 127.1 as
 * loopback, but resolvers disagree on them, so they are not accepted.
 */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "[::1]") return true;
  const parts = host.split(".");
  return parts.length === 4 && parts[0] === "127" && parts.every(isOctet);
}

function isOctet(text: string): boolean {
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= 255;
}
