import { readHar } from "../../har/read-har.ts";
import type { Contract } from "../contract.ts";
import { TargetUnusable } from "../run-verify.ts";
import { findBase } from "./find-base.ts";
import { type Found, OperationPaths } from "./operation-paths.ts";
import { type RecordedExchange, readEntry } from "./read-entry.ts";

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
 * @throws HarError; TargetUnusable where nothing is of this API
 */
export async function eachExchange(
  { contract, file, target }: { contract: Contract; file: string; target: string | undefined },
  begin: (about: { base: string; complete: boolean }) => Seeing,
): Promise<Archive> {
  const paths = new OperationPaths(contract.operations);
  const { base, facts, complete } = await findBase(file, paths, target);
  if (base === undefined) throw new TargetUnusable(nothingOf(file, facts, target));
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
  if (used === 0) throw new TargetUnusable(nothingOf(file, facts, base));
  return { file, base, creator: facts.creator, entries: facts.entries };
}

function nothingOf(
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
