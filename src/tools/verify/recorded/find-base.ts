import { type HarFacts, readHar } from "../../har/read-har.ts";
import type { OperationPaths } from "./operation-paths.ts";
import { readEntry } from "./read-entry.ts";

export interface Base {
  /** Undefined where nothing of the archive is of this API. */
  base: string | undefined;
  facts: HarFacts & { hosts: string[] };
  /** Whether requests show their credentials: browsers leave some out of what they export. */
  complete: boolean;
}

/** Of a hostile archive no more are told apart. */
const MAX_BASES = 1_000;

/**
 * The base URL beneath which most operations are asked for; of several as good, the one with most requests.
 * @throws HarError
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
