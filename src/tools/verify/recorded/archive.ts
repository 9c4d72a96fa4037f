import { dirname } from "node:path";
import type { AnyOperation } from "../../../engine/contract/operation.ts";
import { Router } from "../../../engine/contract/router.ts";
import { pluralize } from "../../../engine/contract/text.ts";
import { readHar } from "../../har/har-file.ts";
import { storeHar } from "../../har/store-har.ts";
import { UnusableTargetError } from "../../input.ts";
import type { Contract } from "../contract.ts";
import { type RecordedExchange, readEntry } from "./read-entry.ts";

export interface OperationExchange extends RecordedExchange, MatchedOperation {}

export interface ExchangeVisitor {
  visit(exchange: OperationExchange): void;
  /** An entry that cannot be checked: of another host, of a path that no operation has, or without a usable answer. */
  skip?(reason: string): void;
}

export const OTHER_HOST = "of other hosts";
export const UNKNOWN_PATH = "of unknown paths";

interface ArchiveSource {
  contract: Contract;
  file: string;
  /** The base URL, without a slash at its end; undefined: the one with the most operations. */
  target?: string | undefined;
}

interface VisitedArchive {
  base: string;
  creator: string;
  entries: number;
}

/**
 * Visits the exchanges of an archive that belong to the API. Reads the archive twice, first to find the base URL; calls
 * `begin` in between.
 * @throws InputError; UnusableTargetError if nothing belongs to this API
 */
export async function visitExchanges(
  source: ArchiveSource,
  begin: (about: { showsCredentials: boolean }) => ExchangeVisitor,
): Promise<VisitedArchive> {
  const { har, remove } = await storeHar(source.file);
  try {
    return await visitHar(har, source, begin);
  } finally {
    remove();
  }
}

async function visitHar(
  har: string,
  { contract, file, target }: ArchiveSource,
  begin: (about: { showsCredentials: boolean }) => ExchangeVisitor,
): Promise<VisitedArchive> {
  const router = new Router(contract.operations);
  const { base, facts, showsCredentials } = await findBase(har, router, target);
  if (base === undefined) throw new UnusableTargetError(describeUnusable(file, facts, target));
  const visitor = begin({ showsCredentials });
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, "");
  let used = 0;
  const isFromCache = createCacheDetector();
  await readHar(har, (entry) => {
    const exchange = readEntry(entry, {
      sizesMatchBodies: facts.creator !== "Understudy",
      folder: dirname(har),
    });
    if (typeof exchange === "string") return visitor.skip?.(exchange);
    const { url, method } = exchange;
    if (url.origin !== origin || !`${url.pathname}/`.startsWith(`${prefix}/`))
      return visitor.skip?.(OTHER_HOST);
    if (method === "OPTIONS") return visitor.skip?.("a browser's preflight");
    const match = findOperation(router, exchange, prefix);
    if (match === undefined) return visitor.skip?.(UNKNOWN_PATH);
    used += 1;
    if (isFromCache(exchange)) return visitor.skip?.("from a browser's cache");
    visitor.visit({ ...exchange, ...match });
  });
  if (used === 0) throw new UnusableTargetError(describeUnusable(file, facts, base));
  return { base, creator: facts.creator, entries: facts.entries };
}

const MAX_STORED = 10_000;

/** Recognizes answers from a cache, which some recorders do not mark: the same cacheable answer to the same request. */
function createCacheDetector(): (exchange: RecordedExchange) => boolean {
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

function describeUnusable(
  file: string,
  {
    entries,
    hosts,
    unusable,
  }: { entries: number; hosts: readonly string[]; unusable: ReadonlyMap<string, number> },
  base: string | undefined,
): string {
  if (entries === 0) return `${file} has no entries, so there is nothing to check`;
  const [first] = hosts;
  const hostText = first === undefined ? "" : `, most of them of ${first}`;
  const apiText = base === undefined ? "this API" : `${base} that belongs to this API and was answered`;
  const others = entries - [...unusable.values()].reduce((sum, count) => sum + count, 0);
  if (others === entries)
    return `${file} has no request of ${apiText}; its ${pluralize(entries, "entry belongs", "entries belong")} to other APIs${hostText}`;
  const parts = [...unusable].map(([reason, count]) => `${count} ${reason}`);
  if (others > 0) parts.push(`${others} of other APIs${hostText}`);
  return `${file} has no request of ${apiText} that can be checked; its ${pluralize(entries, "entry is", "entries are")} ${parts.join(", ")}`;
}

/** Maximum number of base URLs; a hostile archive may have more. */
const MAX_BASES = 1_000;

/**
 * Finds the base URL with the most operations, among equals the one with the most requests, unless `target` names it;
 * undefined if nothing in the archive belongs to this API. `showsCredentials`: browsers may leave credentials out of an
 * export. @throws InputError
 */
async function findBase(har: string, router: Router, target: string | undefined) {
  const bases = new Map<string, { operations: Set<string>; requests: number }>();
  const hosts = new Map<string, number>();
  const unusable = new Map<string, number>();
  let showsAuthorization = false;
  const facts = await readHar(har, (entry) => {
    const exchange = readEntry(entry, { sizesMatchBodies: false, folder: undefined });
    if (typeof exchange === "string") return void countOne(unusable, exchange);
    const { url, sent } = exchange;
    showsAuthorization ||= sent.headers.has("authorization");
    // Only a URL such as `data:` has no host.
    const host = url.host || url.protocol;
    if (hosts.size < MAX_BASES || hosts.has(host)) countOne(hosts, host);
    const match = findOperation(router, exchange);
    if (match === undefined) return;
    const base = url.origin + match.prefix;
    const usage = bases.get(base) ?? { operations: new Set(), requests: 0 };
    if (bases.size < MAX_BASES) bases.set(base, usage);
    usage.operations.add(match.operation.id);
    usage.requests += 1;
  });
  const [best] = [...bases].toSorted(
    ([, a], [, b]) => b.operations.size - a.operations.size || b.requests - a.requests,
  );
  const rankedHosts = [...hosts].toSorted(([, a], [, b]) => b - a).map(([host]) => host);
  return {
    base: target ?? best?.[0],
    facts: { ...facts, hosts: rankedHosts, unusable },
    showsCredentials: showsAuthorization || facts.creator === "Understudy",
  };
}

interface MatchedOperation {
  operation: AnyOperation;
  params: Record<string, string>;
  /** The part before the operation's path. */
  prefix: string;
}

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The operation of a recorded URL. `prefix`: the part before its path; undefined: any. */
function findOperation(
  router: Router,
  { method, url }: RecordedExchange,
  prefix?: string,
): MatchedOperation | undefined {
  const { pathname } = url;
  for (let at = 0; at >= 0; at = pathname.indexOf("/", at + 1)) {
    const match =
      prefix === undefined || prefix.length === at ? router.find(method, pathname.slice(at)) : undefined;
    if (match !== undefined) return { ...match, prefix: pathname.slice(0, at) };
  }
  return undefined;
}
