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
