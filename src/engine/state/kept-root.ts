import { type FlatWrites, flat, type KeptWrite, writesOf } from "./flat-writes.ts";
import type { Root } from "./root.ts";
import type { Commit } from "./world-parts.ts";

/** Of more records than these, two roots share so much that holding both costs less than the list. */
const MAX_WRITTEN = 32;
/** After so many steps a root is held, since one is made again step by step: a small part of a millisecond for each ten. */
export const MAX_STEPS = 128;

/**
 * A root of the past. Holding it would hold every path that has been copied since, and whatever lives for some
 * hundred requests is what a garbage collector has most work with; so it holds what was written on the way to
 * the next one, and is made again from there when somebody asks.
 */
export class KeptRoot {
  /** Held for good: nothing leads to it from what follows. */
  private root: Root | undefined = undefined;
  private next: KeptRoot | undefined = undefined;
  private written: FlatWrites | undefined = undefined;
  /** Since the last that is held. */
  private steps = 0;
  private readonly draws: number;
  /** Holds the root of the newest in it. */
  private readonly line: Pick<RootLine, "newest">;

  constructor({ draws }: Pick<Root, "draws">, line: Pick<RootLine, "newest">) {
    this.draws = draws;
    this.line = line;
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

  /** Needs nothing that follows any more. @param root its own */
  hold(root: Root): void {
    this.root = root;
  }

  /** Whether it is so far from one that is held that it should be held too. */
  get isFar(): boolean {
    return this.steps >= MAX_STEPS;
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

  /** @param written all of it on the way there, in its order; undefined: too much to be told, and it is held */
  followedBy(next: KeptRoot, written: FlatWrites | undefined): void {
    this.next = next;
    this.written = written;
    next.steps = this.root === undefined ? this.steps + 1 : 0;
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

/** Where the line has got to since a root was kept last. */
type Passed = Pick<Commit, "after" | "written">;

/** The line of roots of one world, of which those are kept that somebody asks for. */
export class RootLine {
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
    const kept = new KeptRoot(root, this);
    if (passed?.after === root) {
      const written = passed.written.length > MAX_WRITTEN ? undefined : flat(passed.written);
      if (written === undefined || last!.isFar) last!.hold(newest!);
      last!.followedBy(kept, written);
    } else last?.hold(newest!);
    this.goOn(kept, root);
    return kept;
  }

  /** What was kept last is this now. @param root its own */
  goOn(kept: KeptRoot, root: Root): void {
    this.last = kept;
    this.newest = root;
    this.passed = undefined;
  }

  /** What was kept last holds its root for good. */
  forget(): void {
    this.last?.hold(this.newest!);
    this.last = undefined;
    this.newest = undefined;
    this.passed = undefined;
  }
}
