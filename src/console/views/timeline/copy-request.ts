import type { JournalEntry } from "../../api/types.ts";

/** Of the connection, or added by whatever sends it again. */
const NOT_COPIED =
  /^(host|connection|content-length|accept-encoding|user-agent|origin|referer|sec-.*|keep-alive|transfer-encoding|accept-language|cookie|priority|accept|te)$/i;
const CREDENTIALS = /^(api-key|x-api-key|authorization)$/i;

export interface Copied {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: string | undefined;
}

/** The request once more; `key` takes the place of what the journal masks. */
export function copied(entry: JournalEntry, base: string, key: string | undefined): Copied {
  const { method, path, request } = entry;
  const headers = request.headers
    .filter(({ name }) => !NOT_COPIED.test(name))
    .map(({ name, value }): [string, string] => [
      name,
      CREDENTIALS.test(name) ? credential(value, key) : value,
    ]);
  return {
    method,
    url: base + path + (request.query === "" ? "" : `?${request.query}`),
    headers,
    body: request.body === undefined ? undefined : bodyText(request.body),
  };
}

function credential(masked: string, key: string | undefined): string {
  return (/^Bearer /i.test(masked) ? "Bearer " : "") + (key ?? "YOUR_API_KEY");
}

function bodyText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

export function asCurl({ method, url, headers, body }: Copied): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl -i -X ${method} ${quote(url)}`,
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(" \\\n  ");
}

export function asFetch({ method, url, headers, body }: Copied): string {
  const options = { method, headers: Object.fromEntries(headers), ...(body === undefined ? {} : { body }) };
  return `await fetch(${JSON.stringify(url)}, ${JSON.stringify(options, null, 2)});`;
}
