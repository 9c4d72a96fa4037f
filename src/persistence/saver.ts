import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { StorableUploads } from "../engine/sandbox/snapshots.ts";
import { Mutex } from "../engine/state/concurrency.ts";
import type { Log } from "../hosts/node/log.ts";
import { Refusals } from "./refusals.ts";
import { SandboxImage } from "./sandbox-image.ts";
import { listRowChanges, splitChanges } from "./sandbox-rows.ts";
import { PersistenceError, type RowChange, type Store, type StoreRefusal, toStoreRefusal } from "./store.ts";

/** Changes are saved within a second, including the time for writing (interfaces.md 2). */
const SAVE_ALL_MS = 300;
/** Maximum number of sandboxes in one transaction; comparing more would block the event loop. */
const MAX_BATCH = 500;

/** The server's sandboxes, for the saver. */
interface SavedSandboxes {
  all(): Iterable<Sandbox>;
  get(name: string): Sandbox | undefined;
  /** Removes a new sandbox, since the store refused it. */
  undoCreation(name: string): void;
  /** Loads a deleted sandbox again, since the store refused the deletion. */
  undoDeletion(name: string): Promise<void>;
}

interface SaverParts {
  store: Store;
  sandboxes: SavedSandboxes;
  uploads: StorableUploads;
  log: Log;
}

/** Why nothing can be saved, and since when (wall clock). */
export interface SavingFailure {
  refusal: StoreRefusal;
  since: number;
}

/**
 * Saves changed sandboxes. It finds changes by comparing sandboxes with their last saved images: all of them
 * several times a second, and a single one if a request waits for it (`--durable`). Changes that are found together are one
 * transaction.
 */
export class Saver {
  failure: SavingFailure | undefined;
  private readonly parts: SaverParts;
  /** The images in the store, by name. */
  private readonly savedImages = new Map<string, SandboxImage>();
  private readonly refusals = new Refusals();
  /** Names of sandboxes whose state in the store is unknown. */
  private readonly unknownNames = new Set<string>();
  private awaitedSandboxes = new Set<Sandbox>();
  private areAllAwaited = false;
  private isSaveAllDue = false;
  /** The current flush has saved something. */
  private hasSaved = false;
  private readonly mutex = new Mutex();
  private nextFlush: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private resolveTick = () => {};
  private tick: Promise<void> = Promise.resolve();

  constructor(parts: SaverParts) {
    this.parts = parts;
  }

  /** Checks every sandbox several times a second. */
  start(): void {
    this.tick = new Promise((resolve) => {
      this.resolveTick = resolve;
    });
    this.timer = setTimeout(() => {
      this.resolveTick();
      this.isSaveAllDue = true;
      void this.waitForFlush().then(() => this.timer !== undefined && this.start());
    }, SAVE_ALL_MS);
    this.timer.unref?.();
  }

  /** Records that the store has this image. */
  adopt(image: SandboxImage): void {
    this.savedImages.get(image.sandbox.name)?.release();
    this.savedImages.set(image.sandbox.name, image);
  }

  /**
   * Saves everything before the first request, since refused changes are rolled back to the stored state.
   * @throws PersistenceError if nothing can be saved
   */
  async requireSaved(): Promise<void> {
    if (!(await this.saveAll()))
      throw new PersistenceError(`Nothing can be saved: ${this.failure!.refusal.message}.`);
  }

  /** Whether everything is in the store now. */
  async saveAll(): Promise<boolean> {
    this.isSaveAllDue = true;
    await this.waitForFlush();
    return this.failure === undefined;
  }

  /** How many changes were refused so far; called before a change, for `waitUntilStored` after it. */
  countRefusals(): number {
    return this.refusals.countRefusals();
  }

  /**
   * Resolves once all changes so far of the sandbox, or without one of all sandboxes, are on disk.
   * @param refusalsBefore `countRefusals()` before the change
   * @throws StoreRefusal if the change was undone
   */
  async waitUntilStored(sandbox: Sandbox | undefined, refusalsBefore: number): Promise<void> {
    if (sandbox === undefined || !this.isSaved(sandbox)) {
      if (sandbox === undefined) this.areAllAwaited = true;
      else this.awaitedSandboxes.add(sandbox);
      await this.waitForFlush();
    }
    this.refusals.requireNoneSince(refusalsBefore, sandbox);
  }

  /** Resolves like `waitUntilStored`, for deliveries; while nothing can be saved, they wait for the next attempt. */
  async waitUntilReadyToSend(sandbox: Sandbox): Promise<void> {
    const refusalsBefore = this.countRefusals();
    if (this.failure !== undefined) await this.tick;
    await this.waitUntilStored(sandbox, refusalsBefore);
  }

  /** Saves for the last time. @throws PersistenceError if not everything could be saved */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.resolveTick();
    await this.saveAll();
    // The images are not released: that would delete files which the stored rows name.
    try {
      await this.parts.store.close();
    } finally {
      // A refused change was undone, so it is not lost now.
      if (this.failure !== undefined && (!this.isAllSaved() || this.listDeletedNames().length > 0)) {
        // biome-ignore lint/correctness/noUnsafeFinally: what was lost matters more than a copy not made
        throw new PersistenceError(`The last changes could not be saved: ${this.failure.refusal.message}.`);
      }
    }
  }

  private isSaved(sandbox: Sandbox): boolean {
    const image = this.savedImages.get(sandbox.name);
    if (image?.sandbox === sandbox) return image.isCurrent() && !this.unknownNames.has(sandbox.name);
    // A deleted sandbox has nothing left to save.
    return this.parts.sandboxes.get(sandbox.name) !== sandbox;
  }

  /** Requests during a flush share the next one. */
  private waitForFlush(): Promise<void> {
    this.nextFlush ??= this.mutex.run(() => {
      this.nextFlush = undefined;
      return this.flush();
    });
    return this.nextFlush;
  }

  private isAllSaved(): boolean {
    for (const sandbox of this.parts.sandboxes.all()) if (!this.isSaved(sandbox)) return false;
    return true;
  }

  private async flush(): Promise<void> {
    this.hasSaved = false;
    const { sandboxes, uploads } = this.parts;
    const savesAll = this.isSaveAllDue || this.areAllAwaited;
    const { areAllAwaited, awaitedSandboxes } = this;
    const isAwaited = (sandbox: Sandbox | undefined) =>
      areAllAwaited || (sandbox !== undefined && awaitedSandboxes.has(sandbox));
    const sandboxesToSave = [...(savesAll ? sandboxes.all() : awaitedSandboxes)];
    this.awaitedSandboxes = new Set();
    this.areAllAwaited = false;
    this.isSaveAllDue = false;
    const removals = (savesAll ? this.listDeletedNames() : []).map((name) => ({ name, image: undefined }));
    const refused: RefusedStep[] = [];
    // The first transaction also has the removals, if need be alone.
    for (let from = 0; from === 0 || from < sandboxesToSave.length; from += MAX_BATCH) {
      const changes = sandboxesToSave
        .slice(from, from + MAX_BATCH)
        .filter((sandbox) => !this.isSaved(sandbox))
        .map((sandbox) => ({ name: sandbox.name, image: SandboxImage.capture(sandbox, uploads) }));
      const steps = from === 0 ? [...removals, ...changes] : changes;
      refused.push(...(await this.commitAllOrSingly(steps)));
    }
    this.recordOutcome(refused.at(-1)?.refusal);
    for (const step of refused) await this.refuse(step, isAwaited(step.image?.sandbox));
  }

  /** A sandbox that is too large for the disk must not prevent saving the others. Returns those that were refused. */
  private async commitAllOrSingly(steps: readonly SaveStep[]): Promise<RefusedStep[]> {
    const refusal = steps.length === 0 ? undefined : await this.commit(steps);
    if (refusal === undefined) return [];
    if (steps.length === 1) return [{ ...steps[0]!, refusal }];
    const refused: RefusedStep[] = [];
    for (const step of steps) refused.push(...(await this.commitAllOrSingly([step])));
    return refused;
  }

  /** Returns the reason if the store refused them; undefined if it stored all. */
  private async commit(steps: readonly SaveStep[]): Promise<StoreRefusal | undefined> {
    try {
      for (const { name, image } of steps) await image?.syncBytes(this.savedImages.get(name));
      await this.parts.store.commit(splitChanges(this.listChanges(steps)));
    } catch (error) {
      const refusal = toStoreRefusal(error, "the store");
      // The store may have been replaced, so everything is written again.
      if (refusal.kind === "gone") for (const name of this.savedImages.keys()) this.unknownNames.add(name);
      return refusal;
    }
    this.hasSaved = true;
    for (const { name, image } of steps) {
      this.savedImages.get(name)?.release();
      this.unknownNames.delete(name);
      if (image === undefined) this.savedImages.delete(name);
      else this.savedImages.set(name, image);
    }
    return undefined;
  }

  private *listChanges(steps: readonly SaveStep[]): IterableIterator<RowChange> {
    for (const { name, image } of steps) {
      if (image === undefined) yield { sandbox: name, clearPrefix: "" };
      else yield* listRowChanges(this.unknownNames.has(name) ? undefined : this.savedImages.get(name), image);
    }
  }

  /** Logs a failure once, and its end once all changes are saved. */
  private recordOutcome(refusal: StoreRefusal | undefined): void {
    const { log } = this.parts;
    if (refusal !== undefined) {
      if (this.failure === undefined)
        log.error(`Changes cannot be saved: ${refusal.message}. Saving is repeated until it succeeds.`);
      this.failure = { refusal, since: this.failure?.since ?? Date.now() };
    } else if (this.failure !== undefined && this.hasSaved && this.isAllSaved()) {
      this.failure = undefined;
      log.warn("Everything is saved again.");
    }
  }

  /**
   * If a request waits, rolls the sandbox back to its stored state; otherwise saving is tried again. If only
   * counters differ, nothing is rolled back.
   */
  private async refuse({ name, image, refusal }: RefusedStep, isAwaited: boolean): Promise<void> {
    const savedImage = this.savedImages.get(name);
    image?.release();
    if (!isAwaited) return;
    if (image === undefined) await this.parts.sandboxes.undoDeletion(name);
    else if (savedImage?.sandbox !== image.sandbox) this.parts.sandboxes.undoCreation(name);
    else if (savedImage.differsOnlyInCounts()) return;
    else {
      savedImage.sandbox.rollbackTo(savedImage);
      savedImage.refreshVersions();
    }
    this.refusals.record(image?.sandbox, refusal);
  }

  private listDeletedNames(): string[] {
    return [...this.savedImages.keys()].filter((name) => this.parts.sandboxes.get(name) === undefined);
  }
}

/** A sandbox to save, or, without an image, a deleted one. */
interface SaveStep {
  name: string;
  image: SandboxImage | undefined;
}

interface RefusedStep extends SaveStep {
  refusal: StoreRefusal;
}
