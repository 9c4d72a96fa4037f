import type { JournalEntry } from "../../../types/control-api.ts";
import { listHeaderOptions, quoteForShell } from "../../tools/grader/curl.ts";

/** Headers that are not copied: those of the connection, cookies, and those that each client or “Repeat” adds itself. */
const NOT_COPIED =
  /^(host|connection|content-length|accept-encoding|user-agent|origin|referer|sec-.*|keep-alive|transfer-encoding|accept-language|cookie|set-cookie|priority|accept|te|x-sandbox-repeat)$/i;
export const CREDENTIALS = /^(api-key|x-api-key|authorization)$/i;

export interface RequestCopy {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: string | undefined;
  /** Size of a body that is not text; the journal has no more of it. */
  binarySize?: number | undefined;
}

/** Size of a journaled body that is not text: the journal has it as `{bytes}`. A JSON body may have a field of that name. */
export function getBinarySize({ headers, body }: JournalEntry["response"]): number | undefined {
  const isJson = headers.some(({ name, value }) => /^content-type$/i.test(name) && /json/i.test(value));
  return isJson ? undefined : (body as { bytes?: number } | null | undefined)?.bytes;
}

/** The request for copying. `key` replaces the masked credential; without `base`, the URL is only path and query. */
export function toRequestCopy(
  entry: JournalEntry,
  { base = "", key }: { base?: string; key?: string | undefined } = {},
): RequestCopy {
  const { method, path, request } = entry;
  const headers = request.headers
    .filter(({ name }) => !NOT_COPIED.test(name))
    .map(({ name, value }): [string, string] => [
      name,
      CREDENTIALS.test(name) ? replaceCredential(value, key) : value,
    ]);
  const binarySize = getBinarySize(request);
  return {
    method,
    url: base + path + (request.query === "" ? "" : `?${request.query}`),
    headers,
    body: binarySize === undefined ? formatBody(request) : undefined,
    binarySize,
  };
}

/**
 * A journaled body as text. A string in the journal was either plain text or a JSON string: it was JSON if `Content-Length` fits
 * the text with quotes.
 */
export function formatBody({ headers, body }: JournalEntry["response"], indent?: number): string | undefined {
  const json = JSON.stringify(body, null, indent);
  if (typeof body !== "string") return json;
  const length = headers.find(({ name }) => /^content-length$/i.test(name))?.value;
  return String(new TextEncoder().encode(json).length) === length ? json : body;
}

function replaceCredential(masked: string, key: string | undefined): string {
  return (/^Bearer /i.test(masked) ? "Bearer " : "") + (key ?? "YOUR_API_KEY");
}

/** Names the file that the user has to provide for a body that is not text. */
const nameFile = (size: number) => `body-of-${size}-bytes`;

export function formatAsCurl({ method, url, headers, body, binarySize }: RequestCopy): string {
  // With `-X HEAD`, curl would wait for a body. It would also expand brackets and braces in the URL.
  const options = [
    method === "HEAD" ? "--head" : `-X ${method}`,
    ...(/[[\]{}]/.test(url) ? ["--globoff"] : []),
  ];
  return [
    `curl -i ${options.join(" ")} ${quoteForShell(url)}`,
    ...listHeaderOptions(headers, body !== undefined || binarySize !== undefined),
    ...(body === undefined ? [] : [`--data-raw ${quoteForShell(body)}`]),
    ...(binarySize === undefined ? [] : [`--data-binary @${nameFile(binarySize)}`]),
  ].join(" \\\n  ");
}

/** Headers by name; values of a repeated one are joined, as HTTP allows. */
export function joinRepeated(headers: RequestCopy["headers"]): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) {
    const known = Object.keys(joined).find((one) => one.toLowerCase() === name.toLowerCase());
    joined[known ?? name] = known === undefined ? value : `${joined[known]}, ${value}`;
  }
  return joined;
}

export function formatAsFetch({ method, url, headers, body, binarySize }: RequestCopy): string {
  const options = { method, headers: joinRepeated(headers), ...(body === undefined ? {} : { body }) };
  const hint = binarySize === undefined ? "" : `// Add the body: ${binarySize} bytes that are not text.\n`;
  return `${hint}await fetch(${JSON.stringify(url)}, ${JSON.stringify(options, null, 2)});`;
}

/** A program with the library `requests`. JSON strings are valid Python strings. */
export function formatAsPython({ method, url, headers, body, binarySize }: RequestCopy): string {
  return [
    "import requests",
    "",
    "response = requests.request(",
    `    ${JSON.stringify(method)},`,
    `    ${JSON.stringify(url)},`,
    `    headers=${JSON.stringify(joinRepeated(headers))},`,
    ...(body === undefined ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
    ...(binarySize === undefined ? [] : [`    data=open("${nameFile(binarySize)}", "rb"),`]),
    ")",
    "print(response.status_code, response.text)",
  ].join("\n");
}

export function formatAsEnvironment(base: string, key: string | undefined): string {
  return `API_BASE_URL=${base}\nAPI_KEY=${key ?? "YOUR_API_KEY"}\n`;
}
