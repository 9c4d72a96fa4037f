import type { AnyCollection, StoredRecord } from "./collection.ts";
import type { Root } from "./root.ts";
import type { Table } from "./table.ts";
import type { Commit } from "./world-parts.ts";

/** A record on either side of a change; undefined where there was or is none. */
export interface WrittenRecord {
  readonly collection: AnyCollection;
  readonly id: string;
  readonly before: StoredRecord | undefined;
  readonly after: StoredRecord | undefined;
}

/** Of more records than these, two roots share so much that holding both costs less than the list. */
const MAX_WRITTEN = 32;
/** So many steps a root is made again in, at most; a small part of a millisecond for each ten. */
const MAX_STEPS = 128;

/**
 * A root of the past. Holding it would hold every path that has been copied since, and whatever lives for some
 * hundred requests is what a garbage collector has most work with; so it holds what was written on the way to
 * the next one, and is made again from there when somebody asks.
 */
export class KeptRoot {
  /** Held as long as nothing follows, and now and then for good. */
  private root: Root | undefined;
  private next: KeptRoot | undefined = undefined;
  private written: readonly WrittenRecord[] | undefined = undefined;
  private readonly draws: number;
  private steps = 0;

  constructor(root: Root) {
    this.root = root;
    this.draws = root.draws;
  }

  /** Whether it is this very root, which nothing follows yet. */
  isAt(root: Root): boolean {
    return this.root === root;
  }

  get value(): Root {
    const line: KeptRoot[] = [];
    let at: KeptRoot = this;
    for (; at.root === undefined; at = at.next!) line.push(at);
    let { root } = at;
    for (let i = line.length - 1; i >= 0; i--) root = line[i]!.before(root);
    return root;
  }

  /** What was written from here to a later one; undefined where that has to be found by comparing the two. */
  writtenUntil(later: KeptRoot): readonly WrittenRecord[] | undefined {
    if (this.next === later) return this.written;
    const all: WrittenRecord[] = [];
    for (let at: KeptRoot = this; at !== later; at = at.next!) {
      if (at.next === undefined || at.written === undefined) return undefined;
      all.push(...at.written);
    }
    return joined(all);
  }

  /** @param touched `collection\0id` of all that was written on the way there */
  followedBy(next: KeptRoot, touched: readonly ReadonlySet<string>[]): void {
    const { root } = this;
    if (root === undefined || next.root === undefined)
      throw new Error("only the newest root can be followed");
    this.next = next;
    this.written = writtenBetween(root, next.root, touched);
    if (this.written === undefined || this.steps === MAX_STEPS) return;
    this.root = undefined;
    next.steps = this.steps + 1;
  }

  private before(next: Root): Root {
    let { tables } = next;
    for (const { collection, id, before } of this.written!) {
      const table = tables.get(collection.name)!;
      tables = tables.replaced(before === undefined ? table.remove(id) : table.put(before));
    }
    return { tables, draws: this.draws };
  }
}

/** The line of roots of one world, of which those are kept that somebody asks for. */
export class RootLine {
  private last: KeptRoot | undefined = undefined;
  /** What was written since the last that was kept, and where that led to. */
  private touched: ReadonlySet<string>[] = [];
  private end: Root | undefined = undefined;

  /** To be told of each commit, so that what is kept next can be joined to what was kept last. */
  pass({ before, after, touched }: Commit): void {
    // A restore has come between: what was kept last is followed by nothing.
    if (this.end !== before) this.forget();
    if (this.last === undefined) return;
    this.touched.push(touched);
    this.end = after;
    // Commits that nobody keeps must not add up.
    if (this.touched.length > MAX_WRITTEN) this.forget();
  }

  /** @param root the one that the latest commit led to, or any other */
  keep(root: Root): KeptRoot {
    const { last, touched, end } = this;
    if (last?.isAt(root)) return last;
    const kept = new KeptRoot(root);
    if (last !== undefined && end === root) last.followedBy(kept, touched);
    this.last = kept;
    this.touched = [];
    this.end = root;
    return kept;
  }

  /** What was kept last holds its root for good. */
  forget(): void {
    this.last = undefined;
    this.touched = [];
    this.end = undefined;
  }
}

function writtenBetween(
  from: Root,
  to: Root,
  touched: readonly ReadonlySet<string>[],
): readonly WrittenRecord[] | undefined {
  const written: WrittenRecord[] = [];
  for (const keys of touched) {
    for (const key of keys) {
      if (written.length === MAX_WRITTEN) return undefined;
      const end = key.indexOf("\0");
      const name = key.slice(0, end);
      const id = key.slice(end + 1);
      const table: Table<StoredRecord> = to.tables.get(name)!;
      const before: StoredRecord | undefined = from.tables.get(name)!.get(id);
      written.push({ collection: table.collection, id, before, after: table.get(id) });
    }
  }
  return touched.length > 1 ? joined(written) : written;
}

/** Each record once, as it was before the first and after the last of its changes. */
function joined(written: readonly WrittenRecord[]): readonly WrittenRecord[] {
  const byKey = new Map<string, WrittenRecord>();
  for (const one of written) {
    const key = `${one.collection.name}\0${one.id}`;
    const first = byKey.get(key);
    byKey.set(key, first === undefined ? one : { ...one, before: first.before });
  }
  return [...byKey.values()];
}
