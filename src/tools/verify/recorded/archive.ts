import type { AnyOperation } from "../../../engine/contract/operation.ts";
import { type HarFacts, type HarValue, readHar } from "../../har/har-file.ts";
import type { Contract } from "../contract.ts";
import type { Answer } from "../exchange.ts";
import { TargetUnusable } from "../run-verify.ts";
import type { Asked } from "../target.ts";

/** An exchange that is an operation's. */
export interface OperationExchange extends RecordedExchange, Found {}

export interface Seeing {
  exchange(exchange: OperationExchange): void;
  /** An entry that is not: of another host, of a path that no operation has, or not to be used at all. */
  left(reason: string): void;
}

export const OTHER_HOST = "of other hosts";
export const UNKNOWN_PATH = "of unknown paths";

export interface Archive {
  file: string;
  base: string;
  creator: string;
  entries: number;
}

/**
 * Goes through the exchanges of an archive that belong to the API; it is read twice, first to find out which
 * those are. `begin` is asked in between. `target`: the base URL, without a slash at its end; undefined: the one
 * beneath which most operations were asked for.
 * @throws InputError; TargetUnusable where nothing is of this API
 */
export async function eachExchange(
  { contract, file, target }: { contract: Contract; file: string; target: string | undefined },
  begin: (about: { base: string; complete: boolean }) => Seeing,
): Promise<Archive> {
  const paths = new OperationPaths(contract.operations);
  const { base, facts, complete } = await findBase(file, paths, target);
  if (base === undefined) throw new TargetUnusable(describeNothing(file, facts, target));
  const seeing = begin({ base, complete });
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, "");
  let used = 0;
  await readHar(file, (entry) => {
    const read = readEntry(entry, { exact: facts.creator !== "Understudy" });
    if (typeof read === "string") return seeing.left(read);
    const { url, method } = read;
    if (url.origin !== origin || !`${url.pathname}/`.startsWith(`${prefix}/`)) return seeing.left(OTHER_HOST);
    if (method === "OPTIONS") return seeing.left("a browser's preflight");
    const found = paths.find(method, url.pathname, prefix);
    if (found === undefined) return seeing.left(UNKNOWN_PATH);
    used += 1;
    seeing.exchange({ ...read, ...found });
  });
  if (used === 0) throw new TargetUnusable(describeNothing(file, facts, base));
  return { file, base, creator: facts.creator, entries: facts.entries };
}

function describeNothing(
  file: string,
  { entries, hosts }: { entries: number; hosts: readonly string[] },
  base: string | undefined,
): string {
  if (entries === 0) return `${file} holds no entries, so there is nothing to judge`;
  const [first] = hosts;
  const whose = first === undefined ? "" : `, most of them of ${first}`;
  const under = base === undefined ? "this API" : `${base} that belongs to this API and was answered`;
  return `${file} holds no request of ${under}; ${entries === 1 ? "its 1 entry is another's" : `its ${entries} entries are others'`}${whose}`;
}

export interface Base {
  /** Undefined where nothing of the archive is of this API. */
  base: string | undefined;
  facts: HarFacts & { hosts: string[] };
  /** Whether requests show their credentials: browsers leave some out of what they export. */
  complete: boolean;
}

/** Further bases of a hostile archive are ignored. */
const MAX_BASES = 1_000;

/**
 * The base URL beneath which most operations are asked for; of several as good, the one with most requests.
 * @throws InputError
 */
export async function findBase(
  file: string,
  paths: OperationPaths,
  given: string | undefined,
): Promise<Base> {
  const bases = new Map<string, { operations: Set<string>; requests: number }>();
  const hosts = new Map<string, number>();
  let authorized = false;
  const facts = await readHar(file, (entry) => {
    const read = readEntry(entry, { exact: false });
    if (typeof read === "string") return;
    const { url, method, asked } = read;
    authorized ||= asked.headers.has("authorization");
    if (hosts.size < MAX_BASES || hosts.has(url.host)) hosts.set(url.host, (hosts.get(url.host) ?? 0) + 1);
    const found = paths.find(method, url.pathname);
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

interface Path {
  operation: AnyOperation;
  names: readonly string[];
  form: RegExp;
  /** How many of its segments are words: of several that fit, the most exact is meant. */
  words: number;
}

export interface Found {
  operation: AnyOperation;
  params: Record<string, string>;
  /** The part before the operation's path. */
  prefix: string;
}

/** The operations that URLs of a recording belong to. */
export class OperationPaths {
  private readonly paths: readonly Path[];

  constructor(operations: readonly AnyOperation[]) {
    this.paths = operations.map(toPath).toSorted((a, b) => b.words - a.words);
  }

  /** `prefix` undefined: any. */
  find(method: string, pathname: string, prefix?: string): Found | undefined {
    for (const { operation, names, form } of this.paths) {
      if (operation.method !== method) continue;
      const match = form.exec(pathname);
      if (match === null || (prefix !== undefined && match[1] !== prefix)) continue;
      const params = Object.fromEntries(names.map((name, i) => [name, decoded(match[i + 2]!)]));
      return { operation, params, prefix: match[1]! };
    }
    return undefined;
  }
}

function toPath(operation: AnyOperation): Path {
  const segments = operation.path.split("/").slice(1);
  const names = segments.flatMap((segment) => /^\{(\w+)\}$/.exec(segment)?.[1] ?? []);
  const form = segments.map((segment) =>
    segment.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{\w+\}/g, "([^/]+)"),
  );
  return {
    operation,
    names,
    form: new RegExp(`^(.*?)/${form.join("/")}$`),
    words: segments.length - names.length,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A recorded request and its answer, before anybody knows which operation it is of. */
export interface RecordedExchange {
  method: string;
  url: URL;
  asked: Omit<Asked, "params">;
  /** The answer, and whether its body was kept whole. */
  answer: Answer;
  whole: boolean;
  /** Milliseconds since 1970 when it was asked; NaN where the recording does not say. */
  at: number;
  /** Milliseconds until the answer began; undefined where the recording does not say. */
  wait_ms: number | undefined;
}

/** Why an entry cannot be judged. */
export type Unusable = "malformed" | "without an answer" | "from a browser's cache";

/** `exact`: whether the recorder says of bodies how long they were, and not how long before masking. */
export function readEntry(entry: HarValue, { exact }: { exact: boolean }): RecordedExchange | Unusable {
  const request = toMap(entry["request"]);
  const response = toMap(entry["response"]);
  const { method, url } = request;
  if (typeof method !== "string" || typeof url !== "string" || !URL.canParse(url)) return "malformed";
  const status = Number(response["status"]);
  if (!Number.isInteger(status)) return "malformed";
  if (status === 0 || entry["_error"] !== undefined) return "without an answer";
  if (isCached(entry)) return "from a browser's cache";
  const sent = toHeaders(request["headers"]);
  const headers = toHeaders(response["headers"]);
  const content = toMap(response["content"]);
  if (!headers.has("content-type") && typeof content["mimeType"] === "string")
    setHeader(headers, "content-type", content["mimeType"]);
  const { text, whole } = toBody(content, { status, exact });
  const parsed = new URL(url);
  return {
    method: method.toUpperCase(),
    url: parsed,
    asked: {
      query: Object.fromEntries(parsed.searchParams),
      body: parsedJson(toMap(request["postData"])["text"]).json,
      headers: sent,
    },
    answer: { status, headers, text, ...toJson(text, headers, whole) },
    whole,
    at: Date.parse(String(entry["startedDateTime"])),
    wait_ms: findWait(entry),
  };
}

/** Browsers mark entries from their cache in different ways. */
function isCached(entry: HarValue): boolean {
  const { _fromCache, _fromDiskCache, _fromMemoryCache } = entry as Record<string, unknown>;
  return [_fromCache, _fromDiskCache, _fromMemoryCache].some((one) => one !== undefined && one !== false);
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

/** Recorders leave bodies out, cut them, or write them in base64. */
function toBody(
  content: HarValue,
  { status, exact }: { status: number; exact: boolean },
): { text: string; whole: boolean } {
  const { text, encoding, size, comment } = content as Record<string, unknown>;
  const bodiless = status === 204 || status === 304;
  if (typeof text !== "string") return { text: "", whole: bodiless || !(Number(size) > 0) };
  const cut = typeof comment === "string" && /^the first \d+ of/.test(comment);
  if (encoding === "base64") {
    const bytes = Buffer.from(text, "base64");
    return { text: bytes.toString("utf8"), whole: !cut && bytes.length >= Number(size ?? 0) };
  }
  return { text, whole: !cut && !(exact && Buffer.byteLength(text) < Number(size ?? 0)) };
}

function toJson(text: string, headers: Headers, whole: boolean): Pick<Answer, "json" | "problem"> {
  if (text === "" || !/^application\/([\w.-]+\+)?json\b/.test(headers.get("content-type") ?? ""))
    return { json: undefined, problem: undefined };
  const { json, broken } = parsedJson(text);
  return { json, problem: broken && whole ? "the body is announced as JSON and is none" : undefined };
}

function parsedJson(text: unknown): { json: unknown; broken: boolean } {
  if (typeof text !== "string" || text === "") return { json: undefined, broken: false };
  try {
    return { json: JSON.parse(text), broken: false };
  } catch {
    return { json: undefined, broken: true };
  }
}

function findWait(entry: HarValue): number | undefined {
  const { wait } = toMap(entry["timings"]);
  const milliseconds = typeof wait === "number" && wait >= 0 ? wait : entry["time"];
  return typeof milliseconds === "number" && milliseconds >= 0 ? milliseconds : undefined;
}
