import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AnyOperation } from "../../../engine/contract/operation.ts";
import { Router } from "../../../engine/contract/router.ts";
import { decompress } from "../../har/har-entry.ts";
import { type HarFacts, type HarValue, readHar } from "../../har/har-file.ts";
import { unpackHar } from "../../har/har-zip.ts";
import type { Contract } from "../contract.ts";
import { type Answer, isJson, parseJson, readJson } from "../exchange.ts";
import { TargetUnusable } from "../run-verify.ts";
import type { SentRequestParts } from "../target.ts";

/** An exchange that is an operation's. */
export interface OperationExchange extends RecordedExchange, Found {}

export interface ExchangeVisitor {
  exchange(exchange: OperationExchange): void;
  /** An entry that is not: of another host, of a path that no operation has, or not to be used at all. */
  left(reason: string): void;
}

export const OTHER_HOST = "of other hosts";
export const UNKNOWN_PATH = "of unknown paths";

interface Archive {
  file: string;
  base: string;
  creator: string;
  entries: number;
}

/**
 * Goes through the exchanges of an archive that belong to the API; it is read twice, first to find out which
 * those are. `begin` is asked in between. `target`: the base URL, without a slash at its end; undefined: the one
 * below which most operations were asked for.
 * @throws InputError; TargetUnusable where nothing is of this API
 */
export async function eachExchange(
  { contract, file, target }: { contract: Contract; file: string; target: string | undefined },
  begin: (about: { base: string; complete: boolean }) => ExchangeVisitor,
): Promise<Archive> {
  if (!/\.zip$/i.test(file)) return visitExchanges({ contract, file, target }, begin);
  const { har, remove } = unpackHar(file);
  try {
    return { ...(await visitExchanges({ contract, file: har, target }, begin)), file };
  } finally {
    remove();
  }
}

async function visitExchanges(
  { contract, file, target }: { contract: Contract; file: string; target: string | undefined },
  begin: (about: { base: string; complete: boolean }) => ExchangeVisitor,
): Promise<Archive> {
  const router = new Router(contract.operations);
  const { base, facts, complete } = await findBase(file, router, target);
  if (base === undefined) throw new TargetUnusable(describeNothing(file, facts, target));
  const seeing = begin({ base, complete });
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, "");
  let used = 0;
  const isStored = recognizeStored();
  await readHar(file, (entry) => {
    const read = readEntry(entry, { exact: facts.creator !== "Understudy", folder: dirname(file) });
    if (typeof read === "string") return seeing.left(read);
    const { url, method } = read;
    if (url.origin !== origin || !`${url.pathname}/`.startsWith(`${prefix}/`)) return seeing.left(OTHER_HOST);
    if (method === "OPTIONS") return seeing.left("a browser's preflight");
    const found = findOperation(router, read, prefix);
    if (found === undefined) return seeing.left(UNKNOWN_PATH);
    used += 1;
    if (isStored(read)) return seeing.left("from a browser's cache");
    seeing.exchange({ ...read, ...found });
  });
  if (used === 0) throw new TargetUnusable(describeNothing(file, facts, base));
  return { file, base, creator: facts.creator, entries: facts.entries };
}

/** More answers that a client may store are not remembered. */
const MAX_STORED = 10_000;

/** Some recorders do not mark what came from a cache: the same answer, which may be stored, to the same request. */
function recognizeStored(): (exchange: RecordedExchange) => boolean {
  const stored = new Map<string, string>();
  return ({ method, url, answer: { headers } }) => {
    const id = headers.get("x-request-id");
    if (method !== "GET" || id === null || !/max-age=[1-9]/.test(headers.get("cache-control") ?? ""))
      return false;
    if (stored.get(url.href) === id) return true;
    if (stored.size < MAX_STORED) stored.set(url.href, id);
    return false;
  };
}

function describeNothing(
  file: string,
  { entries, hosts }: { entries: number; hosts: readonly string[] },
  base: string | undefined,
): string {
  if (entries === 0) return `${file} has no entries, so there is nothing to check`;
  const [first] = hosts;
  const whose = first === undefined ? "" : `, most of them of ${first}`;
  const under = base === undefined ? "this API" : `${base} that belongs to this API and was answered`;
  return `${file} holds no request of ${under}; ${entries === 1 ? "its 1 entry is another's" : `its ${entries} entries are others'`}${whose}`;
}

interface Base {
  /** Undefined where nothing of the archive is of this API. */
  base: string | undefined;
  facts: HarFacts & { hosts: string[] };
  /** Whether requests show their credentials: browsers leave some out of what they export. */
  complete: boolean;
}

/** Further bases of a hostile archive are ignored. */
const MAX_BASES = 1_000;

/**
 * The base URL below which most operations are asked for; of several as good, the one with most requests.
 * @throws InputError
 */
async function findBase(file: string, router: Router, given: string | undefined): Promise<Base> {
  const bases = new Map<string, { operations: Set<string>; requests: number }>();
  const hosts = new Map<string, number>();
  let authorized = false;
  const facts = await readHar(file, (entry) => {
    const read = readEntry(entry, { exact: false, folder: undefined });
    if (typeof read === "string") return;
    const { url, asked } = read;
    authorized ||= asked.headers.has("authorization");
    if (hosts.size < MAX_BASES || hosts.has(url.host)) hosts.set(url.host, (hosts.get(url.host) ?? 0) + 1);
    const found = findOperation(router, read);
    if (found === undefined) return;
    const base = url.origin + found.prefix;
    const seen = bases.get(base) ?? { operations: new Set(), requests: 0 };
    if (bases.size < MAX_BASES) bases.set(base, seen);
    seen.operations.add(found.operation.id);
    seen.requests += 1;
  });
  const [best] = [...bases].toSorted(
    ([, a], [, b]) => b.operations.size - a.operations.size || b.requests - a.requests,
  );
  const ranked = [...hosts].toSorted(([, a], [, b]) => b - a).map(([host]) => host);
  return {
    base: given ?? best?.[0],
    facts: { ...facts, hosts: ranked },
    complete: authorized || facts.creator === "Understudy",
  };
}

interface Found {
  operation: AnyOperation;
  params: Record<string, string>;
  /** The part before the operation's path. */
  prefix: string;
}

/** The operation of a recorded URL. `prefix`: the part before its path; undefined: any. */
function findOperation(
  router: Router,
  { method, url }: RecordedExchange,
  prefix?: string,
): Found | undefined {
  const { pathname } = url;
  for (let at = 0; at >= 0; at = pathname.indexOf("/", at + 1)) {
    const found =
      prefix === undefined || prefix.length === at ? router.find(method, pathname.slice(at)) : undefined;
    if (found !== undefined) return { ...found, prefix: pathname.slice(0, at) };
  }
  return undefined;
}

/** A recorded request and its answer. */
interface RecordedExchange {
  method: string;
  url: URL;
  asked: Omit<SentRequestParts, "params">;
  answer: Answer;
  /** Whether the answer's body was kept whole, and why not. */
  whole: boolean;
  missing: MissingBody | undefined;
  /** Milliseconds since 1970 when it was asked; NaN where the recording does not say. */
  at: number;
  /** How long it took, in milliseconds; NaN where the recording does not say. */
  duration: number;
  /** Milliseconds until the answer began; undefined where the recording does not say. */
  wait_ms: number | undefined;
}

/** Why an entry cannot be checked. */
type Unusable =
  | "malformed"
  | "without an answer"
  | "from a browser's cache"
  | "with the headers of a redirect";

/** Why only the head of an answer can be checked. */
type MissingBody =
  | "with the body left out"
  | "with the body cut short"
  | "with the body left compressed"
  | "with the request's body left out"
  | "with the browser's cached body";

/** How an archive has its bodies. */
interface Recorder {
  /** Whether it says how long bodies were, and not how long before masking. */
  exact: boolean;
  /** Where files with bodies lie; undefined: they are not read. */
  folder: string | undefined;
}

function readEntry(entry: HarValue, recorder: Recorder): RecordedExchange | Unusable {
  const request = toMap(entry["request"]);
  const response = toMap(entry["response"]);
  const sent = toHeaders(request["headers"]);
  const { method, url } = request;
  // Some recorders leave the host to the header.
  const host = sent.get("host");
  const base = host === null ? undefined : `http://${host}`;
  if (typeof method !== "string" || typeof url !== "string" || !URL.canParse(url, base)) return "malformed";
  const parsed = new URL(url, base);
  const status = Number(response["status"]);
  if (!Number.isInteger(status)) return "malformed";
  if (status === 0 || entry["_error"] !== undefined) return "without an answer";
  if (isCached(entry)) return "from a browser's cache";
  const headers = toHeaders(response["headers"]);
  if (status === 200 && headers.has("location")) return "with the headers of a redirect";
  const content = toMap(response["content"]);
  if (!headers.has("content-type") && typeof content["mimeType"] === "string")
    setHeader(headers, "content-type", content["mimeType"]);
  const { text, missing } = toBody(content, {
    ...{ ...recorder, status, headers },
    isSent: Number(response["bodySize"]) > 0 || Number(headers.get("content-length")) > 0,
  });
  const posted = readText(toMap(request["postData"]), recorder.folder);
  const isUnknown =
    !posted &&
    Number(sent.get("content-length") ?? request["bodySize"]) > 0 &&
    isJson(sent.get("content-type"));
  const lost = missing ?? (isUnknown ? "with the request's body left out" : undefined);
  const whole = lost === undefined;
  return {
    method: method.toUpperCase(),
    url: parsed,
    asked: {
      query: Object.fromEntries(parsed.searchParams),
      body: parseJson(posted).json,
      headers: sent,
    },
    answer: { status, headers, text, ...readJson(text, headers, whole) },
    whole,
    missing: lost,
    at: Date.parse(String(entry["startedDateTime"])),
    duration: Number(entry["time"] ?? Number.NaN),
    wait_ms: findWait(entry),
  };
}

const CACHE_MARKS = [
  ...["_fromCache", "_fromDiskCache", "_fromMemoryCache", "_fromPrefetchCache", "_servedFromCache"],
];
const WORKER_CACHES = new Set(["cache-storage", "http-cache", "fallback-code"]);

/** Browsers mark answers from a cache in different ways, at the entry or at its response. */
function isCached(entry: HarValue): boolean {
  const response = toMap(entry["response"]);
  return [entry, response].some(
    (one) =>
      CACHE_MARKS.some((name) => one[name] !== undefined && one[name] !== false && one[name] !== null) ||
      /cache/i.test(String(one["_fetchType"] ?? "")) ||
      WORKER_CACHES.has(String(one["_serviceWorkerResponseSource"])),
  );
}

function toMap(value: unknown): HarValue {
  return (typeof value === "object" && value !== null ? value : {}) as HarValue;
}

function toHeaders(list: unknown): Headers {
  const headers = new Headers();
  for (const pair of Array.isArray(list) ? list : []) {
    const { name, value } = toMap(pair);
    if (typeof name === "string" && typeof value === "string") setHeader(headers, name, value);
  }
  return headers;
}

/** HTTP/2's `:status` and whatever else no header can be is left out. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    return;
  }
}

/** A text that lost its byte order mark is this much shorter than its size. */
const BYTE_ORDER_MARK = 3;

/** Recorders leave bodies out, cut them, write them in base64, compressed, or into files beside the archive. */
function toBody(
  content: HarValue,
  {
    status,
    headers,
    exact,
    folder,
    isSent,
  }: Recorder & { status: number; headers: Headers; isSent: boolean },
): { text: string; missing: MissingBody | undefined } {
  const { encoding, size, comment } = content as Record<string, unknown>;
  const text = readText(content, folder);
  // A 304 has no body: a browser shows the one that it has cached.
  if (status === 304) return { text: "", missing: text ? "with the browser's cached body" : undefined };
  if (text === undefined || (text === "" && exact && isSent)) {
    // Some recorders write size 0 for a body that they left out; without a length or type, none came.
    const isSure = !exact || headers.get("content-length") === "0" || !headers.has("content-type");
    const empty = status === 204 || (size === 0 && isSure);
    return { text: "", missing: empty ? undefined : "with the body left out" };
  }
  if (encoding !== "base64" || typeof content["text"] !== "string") {
    const isShort = exact && Buffer.byteLength(text) + BYTE_ORDER_MARK < Number(size ?? 0);
    const isCut = isShort || (typeof comment === "string" && /^the first \d+ of/.test(comment));
    return { text, missing: isCut ? "with the body cut short" : undefined };
  }
  // Polly.JS writes a list of pieces.
  const bytes = Buffer.concat(text.split(/[^\w+/=-]+/).map((piece) => Buffer.from(piece, "base64")));
  // Most recorders have decompressed a body, and still show the header.
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isBrotli = headers.get("content-encoding") === "br" && !isUtf8(bytes);
  const plain = decompress(bytes, isGzip ? "gzip" : isBrotli ? "br" : "", MAX_FILE_BYTES);
  if (plain === undefined) return { text: "", missing: "with the body left compressed" };
  const isShort = plain === bytes && bytes.length + BYTE_ORDER_MARK < Number(size ?? 0);
  return { text: plain.toString("utf8"), missing: isShort ? "with the body cut short" : undefined };
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The text in the archive, or in the file beside it that Playwright names in `_file`. */
function readText({ text, _file }: HarValue, folder: string | undefined): string | undefined {
  if (typeof text === "string" && (text !== "" || _file === undefined)) return text;
  // A name only: an archive must not choose a file elsewhere.
  if (folder === undefined || typeof _file !== "string" || !/^[\w-][\w.-]*$/.test(_file)) return undefined;
  const file = join(folder, _file);
  try {
    return statSync(file).size > MAX_FILE_BYTES ? undefined : readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function findWait(entry: HarValue): number | undefined {
  const { wait } = toMap(entry["timings"]);
  const milliseconds = typeof wait === "number" && wait >= 0 ? wait : entry["time"];
  return typeof milliseconds === "number" && milliseconds >= 0 ? milliseconds : undefined;
}
