/**
 * Reads an address as users write it: `localhost:3000/x` means HTTP, `:3000` and `3000` a port of this machine. Returns
 * a string for an invalid address: the reason, as in `--url must be …`.
 */
export function readHttpUrl(address: string): URL | string {
  const text = String(address).trim();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  const wrong = `must be an http or https URL, such as http://127.0.0.1:3000/path, not ${JSON.stringify(text.slice(0, 200))}`;
  if (typeof address !== "string") return wrong;
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return wrong;
  const place = text.replace(/^https?:\/\//i, "").replace(/^:?(?=\d{1,5}(?:[/?#]|$))/, "localhost:");
  const full = `${scheme ?? "http"}://${place}`;
  // Without slashes, host or port, a URL parser would read another host.
  if (/^(?:$|[/\\?#]|https?\/\/|[^/?#]*:(?:[/?#]|$))/i.test(place) || !URL.canParse(full)) return wrong;
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
