import type { Root } from "./tables.ts";
import type { WrittenRecord } from "./transaction.ts";
import type { Commit } from "./world-parts.ts";

/** Steps between two checkpoints: undoing them all takes less than a millisecond. */
const STEPS_BETWEEN_CHECKPOINTS = 64;
/** A step with more writes gets a checkpoint of its own. */
const MAX_WRITES_PER_STEP = 256;

/** The changes from one version of a world to the next. */
export interface Step {
  /** In the order of the writes; undone from the last to the first. */
  writes: readonly WrittenRecord[];
  /** The root's `draws` before the step. */
  readonly draws: number;
  /** The version before the step, if it is a checkpoint. */
  rootBefore: Root | undefined;
  /** Whether `writes` lack a part of the step; then `rootBefore` is set. */
  isPartial: boolean;
}

/**
 * The past versions of one world, by number. A version costs as much memory as the writes between it and the next one;
 * `getRoot` goes back to it from the nearest later checkpoint, or from the current version.
 */
export class UndoLog {
  steps: Step[] = [];
  /** The oldest version that was not released. */
  oldest = 0;
  private newest: Root | undefined = undefined;
  /** The newest version that `keepVersion` kept. Commits after it share one step, until `keepVersion` is called again. */
  private lastKept = -1;
  private stepsSinceCheckpoint = 0;

  /** Records a commit: as a step of its own if the version before it is kept, else as a part of the last step. */
  record({ before, after, writes }: Pick<Commit, "before" | "after" | "writes">): void {
    this.recordReplacement(before);
    const last = this.steps.at(-1);
    if (this.lastKept === this.version) {
      this.stepsSinceCheckpoint += 1;
      const isCheckpoint =
        writes.length > MAX_WRITES_PER_STEP || this.stepsSinceCheckpoint >= STEPS_BETWEEN_CHECKPOINTS;
      if (isCheckpoint) this.stepsSinceCheckpoint = 0;
      const rootBefore = isCheckpoint ? before : undefined;
      this.steps.push({ writes, draws: before.draws, rootBefore, isPartial: false });
    } else if (last !== undefined && !last.isPartial) {
      last.isPartial = last.writes.length + writes.length > MAX_WRITES_PER_STEP;
      if (last.isPartial) last.rootBefore ??= this.getRoot(this.version - 1);
      else last.writes = [...last.writes, ...writes];
    }
    this.newest = after;
  }

  /** Keeps a world's current version, so that `getRoot` can go back to it until it is released. Returns its number. */
  keepVersion(root: Root): number {
    this.recordReplacement(root);
    this.lastKept = this.version;
    return this.version;
  }

  /** Whether the version was not released. */
  has(version: number): boolean {
    return version >= this.oldest;
  }

  /** Undefined if the version was released. */
  getRoot(version: number): Root | undefined {
    if (!this.has(version)) return undefined;
    let end = version - this.oldest;
    while (end < this.steps.length && this.steps[end]!.rootBefore === undefined) end += 1;
    let root = this.steps[end]?.rootBefore ?? this.newest;
    for (let position = end - 1; position >= version - this.oldest && root !== undefined; position--)
      root = undo(this.steps[position]!, root);
    return root;
  }

  /** Releases the versions before this one. */
  release(version: number): void {
    const count = Math.min(version - this.oldest, this.steps.length);
    if (count <= 0) return;
    // `splice` moves all other steps, `shift` none.
    if (count === 1) this.steps.shift();
    else this.steps.splice(0, count);
    this.oldest += count;
  }

  releaseAll(): void {
    this.oldest = this.version + 1;
    this.steps = [];
    this.newest = undefined;
  }

  /** Continues a log that was saved. @param newest the version after the last step */
  load(oldest: number, steps: readonly Step[], newest: Root): void {
    this.oldest = oldest;
    this.steps = [...steps];
    this.newest = newest;
    this.lastKept = this.version;
  }

  /** The number of the newest version. */
  private get version(): number {
    return this.oldest + this.steps.length;
  }

  /** If a restored snapshot has replaced the world without writes, makes the version before it a checkpoint. */
  private recordReplacement(root: Root): void {
    if (this.newest !== undefined && this.newest !== root)
      this.steps.push({ writes: [], draws: this.newest.draws, rootBefore: this.newest, isPartial: true });
    this.newest = root;
  }
}

/** Undoes a step: returns the version before it, from the one after it. */
export function undo({ writes, draws }: Step, root: Root): Root {
  let { tables } = root;
  for (let position = writes.length - 1; position >= 0; position--) {
    const { collection, id, before } = writes[position]!;
    const table = tables.get(collection.name)!;
    tables = tables.replace(before === undefined ? table.remove(id) : table.put(before));
  }
  return { tables, draws };
}
