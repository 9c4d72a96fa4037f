import type { AnyCollection, StoredRecord } from "./collection.ts";
import type { Root } from "./root.ts";
import type { WrittenRecord } from "./transaction.ts";
import type { Commit } from "./world-parts.ts";

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
  /** Held for good: nothing leads to it from what follows. */
  private root: Root | undefined;
  private next: KeptRoot | undefined;
  private written: FlatWrites | undefined;
  private draws!: number;
  private steps!: number;
  /** Holds the root of the newest in it. */
  private readonly line: Pick<RootLine, "newest">;

  constructor(root: Root, line: Pick<RootLine, "newest">) {
    this.line = line;
    this.write(root);
  }

  /** Becomes the newest of its line, when nobody holds it nor any before it; its list is used again. */
  write(root: Root): this {
    this.root = undefined;
    this.next = undefined;
    this.draws = root.draws;
    this.steps = 0;
    return this;
  }

  /** Whether both are of one moment, though of two lines. */
  agreesWith(other: KeptRoot): boolean {
    return this === other || (this.held !== undefined && this.held === other.held);
  }

  get value(): Root {
    const line: KeptRoot[] = [];
    let at: KeptRoot = this;
    for (; at.held === undefined; at = at.next!) line.push(at);
    let root = at.held;
    for (let i = line.length - 1; i >= 0; i--) root = line[i]!.before(root);
    return root;
  }

  /** It is no more the newest of its line, though nothing follows. */
  hold(root: Root): void {
    this.root = root;
  }

  /** What was written from here to a later one, each record once; undefined where that has to be found by comparing the two. */
  writtenUntil(later: KeptRoot): readonly KeptWrite[] | undefined {
    const first = new Map<string, KeptWrite>();
    for (let at: KeptRoot = this; at !== later; at = at.next!) {
      if (at.next === undefined || at.written === undefined) return undefined;
      for (const write of writesOf(at.written)) {
        const key = `${write.collection.name}\0${write.id}`;
        const earlier = first.get(key);
        first.set(key, earlier === undefined ? write : { ...write, before: earlier.before });
      }
    }
    return [...first.values()];
  }

  /**
   * @param root its own
   * @param written all of it on the way there, in its order; undefined: too much to be told
   */
  followedBy(next: KeptRoot, root: Root, written: readonly WrittenRecord[] | undefined): void {
    this.next = next;
    this.written = written && flat(written, this.written);
    if (this.written === undefined || this.steps === MAX_STEPS) this.root = root;
    else next.steps = this.steps + 1;
  }

  /** Reads something of it, since a processor fetches ahead what it is going to write anew. */
  glance(): number {
    return this.steps;
  }

  /** The same of the list of what was written. */
  glanceAtWritten(): number {
    const { written } = this;
    if (written === undefined) return 0;
    return (written[0] === undefined ? 1 : 0) | (written[written.length - 1] === undefined ? 1 : 0);
  }

  private get held(): Root | undefined {
    return this.root ?? (this.next === undefined ? this.line.newest : undefined);
  }

  private before(next: Root): Root {
    let { tables } = next;
    // Backwards, since what was written twice was at first as the first change found it.
    for (const { collection, id, before } of writesOf(this.written!).reverse()) {
      const table = tables.get(collection.name)!;
      tables = tables.replaced(before === undefined ? table.remove(id) : table.put(before));
    }
    return { tables, draws: this.draws };
  }
}

/** A record that was written, as it was before; what it was written to stands in the roots that follow. */
export interface KeptWrite {
  readonly collection: AnyCollection;
  readonly id: string;
  readonly before: StoredRecord | undefined;
  /** Whether there is one afterwards. */
  readonly stays: boolean;
}

/**
 * Writes as one list: collection, id, before, stays, collection, id … A thousand of these are kept, and one list costs
 * a collector less than a list and its records.
 */
type FlatWrites = KeptWrite[keyof KeptWrite][];

/** @param used a list that is not needed any more */
function flat(written: readonly WrittenRecord[], used: FlatWrites | undefined): FlatWrites {
  const length = written.length * 4;
  // Of its length from the start: a list that grew by appending has room for sixteen more.
  const all = used?.length === length ? used : new Array<KeptWrite[keyof KeptWrite]>(length);
  let at = 0;
  for (const { collection, id, before, after } of written) {
    all[at++] = collection;
    all[at++] = id;
    all[at++] = before;
    all[at++] = after !== undefined;
  }
  return all;
}

function writesOf(all: FlatWrites): KeptWrite[] {
  const writes: KeptWrite[] = [];
  for (let at = 0; at < all.length; at += 4) {
    const [collection, id, before, stays] = all.slice(at, at + 4);
    writes.push({ collection, id, before, stays } as KeptWrite);
  }
  return writes;
}

/** Where the line has got to since a root was kept last. */
type Passed = Pick<Commit, "after" | "written">;

/** The line of roots of one world, of which those are kept that somebody asks for. */
export class RootLine {
  /** A root that nobody holds any more, for the next one. */
  spare: KeptRoot | undefined = undefined;
  /** Of what was kept last, which nothing follows yet. */
  newest: Root | undefined = undefined;
  private last: KeptRoot | undefined = undefined;
  private passed: Passed | undefined = undefined;

  /** To be told of each commit, so that what is kept next can be joined to what was kept last. */
  pass(commit: Passed & Pick<Commit, "before">): void {
    const { passed } = this;
    // A restore has come between: what was kept last is followed by nothing.
    if ((passed === undefined ? this.newest : passed.after) !== commit.before) this.forget();
    if (this.last === undefined) return;
    // Most commits are kept one by one.
    if (passed === undefined) this.passed = commit;
    else {
      const { after, written } = commit;
      this.passed = { after, written: [...passed.written, ...written] };
      // Commits that nobody keeps must not add up.
      if (this.passed.written.length > MAX_WRITTEN) this.forget();
    }
  }

  /** @param root the one that the latest commit led to, or any other */
  keep(root: Root): KeptRoot {
    const { last, passed, newest } = this;
    if (last !== undefined && newest === root) return last;
    const kept = this.spare?.write(root) ?? new KeptRoot(root, this);
    this.spare = undefined;
    if (passed?.after === root)
      last!.followedBy(kept, newest!, passed.written.length > MAX_WRITTEN ? undefined : passed.written);
    else last?.hold(newest!);
    this.last = kept;
    this.newest = root;
    this.passed = undefined;
    return kept;
  }

  /** What was kept last holds its root for good. */
  forget(): void {
    this.last?.hold(this.newest!);
    this.last = undefined;
    this.newest = undefined;
    this.passed = undefined;
  }
}
