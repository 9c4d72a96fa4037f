import { setImmediate as nextTurn } from "node:timers/promises";
import { getOrAdd } from "../engine/maps.ts";
import type { SandboxRegistry } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { KeyedMutex } from "../engine/state/concurrency.ts";
import type { Log } from "../hosts/node/log.ts";
import type { UploadStore } from "../hosts/node/storage/upload-store.ts";
import { type RedisStore, toMovedRefusal } from "../persistence/redis-store.ts";
import { Refusals } from "../persistence/refusals.ts";
import { SandboxImage } from "../persistence/sandbox-image.ts";
import { listRowChanges, splitChanges } from "../persistence/sandbox-rows.ts";
import type { SavingFailure } from "../persistence/saver.ts";
import { StoreRefusal, toStoreRefusal } from "../persistence/store.ts";
import type { DueSandboxes } from "./due-sandboxes.ts";
import type { LostSession, NodeSession } from "./node-session.ts";
import type { UploadChunks } from "./upload-chunks.ts";

/** Changes without a waiting request (a timer that ran, a counted request) are saved within this time. */
const SWEEP_MS = 300;

interface FleetSaverParts {
  store: RedisStore;
  sandboxes: SandboxRegistry;
  uploads: UploadStore;
  session: NodeSession;
  dueSandboxes: DueSandboxes;
  chunks: UploadChunks;
  log: Log;
}

/** A sandbox that this node owns, and its state in Redis. */
interface TrackedSandbox {
  image: SandboxImage;
  /** Whether the state in Redis is unknown; then the whole sandbox is sent. */
  isUnknown: boolean;
  /** Set if the creation was refused although Redis may have committed it: the node's session then. */
  refusedSession?: string;
}

/**
 * Saves each owned sandbox to Redis, one commit at a time; requests that arrive during a commit share the next one. An
 * answer is sent after Redis has its changes (interfaces.md 15); refused changes are undone.
 */
export class FleetSaver {
  failure: SavingFailure | undefined;
  /** Number of sandboxes that other nodes have taken over from this node. */
  fencedCount = 0;
  /** By the names of sandboxes: saves and takes over each of them in turn. */
  readonly mutex = new KeyedMutex();
  private readonly parts: FleetSaverParts;
  private readonly trackedByName = new Map<string, TrackedSandbox>();
  private readonly queuedFlushes = new Map<string, Promise<void>>();
  /** Names of sandboxes whose next flush a request waits for. */
  private readonly awaitedNames = new Set<string>();
  private readonly refusals = new Refusals();
  private timer: NodeJS.Timeout | undefined;

  constructor(parts: FleetSaverParts) {
    this.parts = parts;
    this.timer = setInterval(() => this.sweep(), SWEEP_MS);
    this.timer.unref();
  }

  /** The sandbox that this node owns under a name, unless it has been deleted. */
  findOwned(name: string): Sandbox | undefined {
    const sandbox = this.trackedByName.get(name)?.image.sandbox;
    return sandbox !== undefined && this.parts.sandboxes.get(name) === sandbox ? sandbox : undefined;
  }

  get size(): number {
    return this.trackedByName.size;
  }

  /** Called before a change, for `waitUntilStored` after it. */
  countRefusals(): number {
    return this.refusals.countRefusals();
  }

  /**
   * Resolves, or returns at once, when Redis has all changes of the sandbox so far. Does not wait for
   * request counters.
   * @param refusalsBefore `countRefusals()` before the changes
   * @throws StoreRefusal if a change was undone since then, or another node owns the sandbox
   */
  waitUntilStored(sandbox: Sandbox, refusalsBefore: number): undefined | Promise<void> {
    const { name } = sandbox;
    const tracked = this.trackedByName.get(name);
    if (tracked?.image.sandbox !== sandbox) throw this.refusals.findLast(sandbox) ?? toMovedRefusal(name);
    if (!this.parts.session.isValid) throw this.parts.session.toRefusal(name);
    const isGone = this.parts.sandboxes.get(name) !== sandbox;
    if (isGone || tracked.isUnknown || !tracked.image.differsOnlyInCounts()) {
      this.awaitedNames.add(name);
      return this.waitForFlush(name).then(() => this.refusals.requireNoneSince(refusalsBefore, sandbox));
    }
    this.refusals.requireNoneSince(refusalsBefore, sandbox);
    return undefined;
  }

  /** Resolves once the change behind a delivery attempt is stored, or another node owns the sandbox. */
  async waitUntilReadyToSend(sandbox: Sandbox): Promise<void> {
    const { sandboxes, session } = this.parts;
    for (;;) {
      // A loaded sandbox is registered as this node's a turn of the event loop after it can be found.
      await nextTurn();
      if (sandboxes.get(sandbox.name) !== sandbox || sandbox.world.isClosed) return;
      try {
        if (this.trackedByName.get(sandbox.name)?.image.sandbox === sandbox && session.isValid) {
          await this.waitUntilStored(sandbox, this.countRefusals());
          return;
        }
      } catch {
        // Redis is unreachable, or the sandbox was taken over; the next check finds out.
      }
      await new Promise((resolve) => setTimeout(resolve, SWEEP_MS).unref());
    }
  }

  /** Records that Redis has the loaded state. */
  adopt(image: SandboxImage): void {
    const { name } = image.sandbox;
    this.trackedByName.set(name, { image, isUnknown: false });
    this.parts.dueSandboxes.adopt(name);
  }

  /** Adds a sandbox to the fleet. @throws StoreRefusal `taken`, `limit`; this node does not own it then */
  register(sandbox: Sandbox): Promise<void> {
    const { name } = sandbox;
    return this.mutex.run(name, async () => {
      // This node may have taken over a sandbox of the name meanwhile.
      if (this.parts.sandboxes.get(name) !== sandbox) throw new StoreRefusal("taken", name);
      await this.deleteRefused(name);
      const { id } = this.parts.session;
      const image = await this.commit(sandbox, undefined).catch((error: StoreRefusal) => {
        // The caller deletes the sandbox, and the next sweep deletes it in Redis.
        if (error.kind === "unreachable") {
          const image = SandboxImage.capture(sandbox, this.parts.uploads);
          this.trackedByName.set(name, { image, isUnknown: true, refusedSession: id });
        }
        throw error;
      });
      this.trackedByName.get(name)?.image.release();
      this.trackedByName.set(name, { image, isUnknown: false });
    });
  }

  /** Deletes what Redis may have of a sandbox whose creation was refused; false if there is none. Call this in the mutex. */
  async deleteRefused(name: string): Promise<boolean> {
    const tracked = this.trackedByName.get(name);
    if (tracked?.refusedSession === undefined) return false;
    await this.deleteFromStore(tracked);
    return true;
  }

  /** Reclaims the sandboxes of a lost session, each on its own and not while it is being saved. */
  async recover(lost: LostSession): Promise<void> {
    const names = [...this.trackedByName.keys()];
    await Promise.all(names.map((name) => this.mutex.run(name, () => this.reclaim(name, lost))));
  }

  /** Removes a sandbox from this node after another one has taken it over. */
  private recordTakeover(name: string): void {
    const tracked = this.trackedByName.get(name);
    if (tracked === undefined) return;
    this.fencedCount += 1;
    this.refusals.record(tracked.image.sandbox, toMovedRefusal(name));
    this.unload(tracked.image);
  }

  private unload(image: SandboxImage): void {
    const { store, sandboxes, dueSandboxes, chunks } = this.parts;
    const { name } = image.sandbox;
    this.trackedByName.delete(name);
    store.owned.delete(name);
    dueSandboxes.release(name);
    chunks.release(name);
    if (sandboxes.get(name) === image.sandbox) sandboxes.delete(name);
    image.release();
  }

  /** Saves everything; false if something could not be saved. */
  async saveAll(): Promise<boolean> {
    clearInterval(this.timer);
    await Promise.all([...this.trackedByName.keys()].map((name) => this.waitForFlush(name)));
    this.sweep();
    return this.failure === undefined;
  }

  private sweep(): void {
    const { sandboxes, session, store } = this.parts;
    if (!session.isValid || !store.connection.isUp) return;
    let isAllSaved = true;
    for (const [name, { image, isUnknown }] of this.trackedByName) {
      if (sandboxes.get(name) === image.sandbox && !isUnknown && image.isCurrent()) continue;
      isAllSaved = false;
      void this.waitForFlush(name);
    }
    if (isAllSaved) this.recordSuccess();
  }

  /** Requests during a commit share the next one. */
  private waitForFlush(name: string): Promise<void> {
    return getOrAdd(this.queuedFlushes, name, () =>
      this.mutex.run(name, () => {
        this.queuedFlushes.delete(name);
        return this.flush(name);
      }),
    );
  }

  private async flush(name: string): Promise<void> {
    const tracked = this.trackedByName.get(name);
    if (tracked === undefined) return;
    const isAwaited = this.awaitedNames.delete(name);
    try {
      await this.saveTracked(tracked);
    } catch (error) {
      const refusal = toStoreRefusal(error, "the store");
      if (refusal.kind === "moved") return this.recordTakeover(name);
      this.recordFailure(refusal);
      if (isAwaited) this.undo(tracked.image, refusal);
    }
  }

  private async saveTracked(tracked: TrackedSandbox): Promise<void> {
    const { sandbox } = tracked.image;
    const current = this.parts.sandboxes.get(sandbox.name);
    if (current === undefined) return this.deleteFromStore(tracked);
    // A new sandbox of the same name is added by `register`.
    if (current !== sandbox || (!tracked.isUnknown && tracked.image.isCurrent())) return;
    let image: SandboxImage;
    try {
      image = await this.commit(sandbox, tracked.isUnknown ? undefined : tracked.image);
    } catch (error) {
      if ((error as StoreRefusal).kind !== "behind") throw error;
      tracked.isUnknown = true;
      image = await this.commit(sandbox, undefined);
    }
    tracked.image.release();
    tracked.image = image;
    tracked.isUnknown = false;
  }

  /** @throws StoreRefusal; Redis then has the former state, or, if unreachable, an unknown one */
  private async commit(sandbox: Sandbox, before: SandboxImage | undefined): Promise<SandboxImage> {
    const { store, dueSandboxes, chunks, uploads } = this.parts;
    const { name } = sandbox;
    const image = SandboxImage.capture(sandbox, uploads);
    try {
      if (before === undefined) chunks.forgetStored(name);
      if (before === undefined && store.owned.has(name))
        await store.restoreToFleetList(name, sandbox.created_at);
      await chunks.save(image);
      dueSandboxes.recordBeforeCommit(sandbox);
      await store.commit(name, splitChanges(listRowChanges(before, image)));
      dueSandboxes.recordAfterCommit(sandbox);
    } catch (error) {
      image.release();
      throw error;
    }
    // Unused pieces may stay for now.
    await chunks.removeUnused(image).catch(() => {});
    return image;
  }

  private async deleteFromStore({ image, refusedSession }: TrackedSandbox): Promise<void> {
    const { store, dueSandboxes, chunks } = this.parts;
    const { name } = image.sandbox;
    const isOwn = refusedSession === undefined || (await this.claimRefused(name, refusedSession));
    if (isOwn) await store.commit(name, splitChanges([{ sandbox: name, clearPrefix: "" }]));
    this.trackedByName.delete(name);
    image.release();
    if (!isOwn) return;
    dueSandboxes.remove(name);
    await chunks.remove(name).catch(() => {});
  }

  /** Claims what Redis has of a sandbox that a session of this node created; false if another node has created or claimed one. */
  private async claimRefused(name: string, session: string): Promise<boolean> {
    const { store } = this.parts;
    const lease = await store.findLease(name);
    if (lease !== undefined) return lease.session === session && store.claim(name, lease);
    await store.removeFromFleetList(name);
    return true;
  }

  /** Returns the sandbox to the state that Redis has acknowledged; called if a request waits for the refused changes. */
  private undo(image: SandboxImage, refusal: StoreRefusal): void {
    const { sandbox } = image;
    const current = this.parts.sandboxes.get(sandbox.name);
    this.refusals.record(sandbox, refusal);
    // The deletion failed, so Redis still has it: the next request loads it from its rows.
    if (current === undefined) this.unload(image);
    else if (current === sandbox && !image.differsOnlyInCounts()) {
      sandbox.rollbackTo(image);
      image.refreshVersions();
    }
  }

  private async reclaim(name: string, lost: LostSession): Promise<void> {
    const tracked = this.trackedByName.get(name);
    if (tracked === undefined || tracked.refusedSession !== undefined) return;
    const outcome = await this.parts.store.reclaim(name, lost);
    if (outcome === "fenced") return this.recordTakeover(name);
    if (lost.restarted) this.parts.dueSandboxes.adopt(name);
    if (outcome === "behind") tracked.isUnknown = true;
  }

  /** Logs the failure once, and its end. */
  private recordFailure(refusal: StoreRefusal): void {
    if (this.failure === undefined)
      this.parts.log.error(
        `Changes cannot be saved: ${refusal.message}. Saving is repeated until it succeeds.`,
      );
    this.failure = { refusal, since: this.failure?.since ?? Date.now() };
  }

  private recordSuccess(): void {
    if (this.failure === undefined) return;
    this.failure = undefined;
    this.parts.log.warn("Changes are saved again.");
  }
}
