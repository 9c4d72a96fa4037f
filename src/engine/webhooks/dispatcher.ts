import { parseDuration } from "../contract/duration.ts";
import type { OutboundClient } from "../contract/services.ts";
import type { Settings } from "../contract/settings.ts";
import { getOrAdd } from "../maps.ts";
import type { DeliveryFacts, DeliveryFault } from "../sandbox/fault-types.ts";
import type { HeldExchanges } from "../sandbox/held.ts";
import type { ChangeSource } from "../sandbox/history-entry.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import type { Commit, ObservedWorld, TimerHandler, WorldParts } from "../state/world-parts.ts";
import {
  type AttemptOutcome,
  type AttemptPlan,
  type CompletedAttempt,
  sendAttempt,
  toChange,
} from "./attempt.ts";
import { DeliveryQueue, type Job, MAX_SENDING_PER_SANDBOX, Semaphore } from "./delivery-queue.ts";
import { type QueuedAttempt, queuedAttempts } from "./queued-attempts.ts";

/** How attempts change records; `resources/webhooks/deliveries.ts` implements it. */
interface DeliveryRules {
  plan(world: WorldReader, queued: QueuedAttempt): AttemptPlan | undefined;
  record(
    tx: Transaction,
    queued: QueuedAttempt,
    result: { outcome: AttemptOutcome; schedule: readonly number[] },
  ): void;
  discard(tx: Transaction, queued: QueuedAttempt): void;
  queueRetry(tx: Transaction, delivery_id: string): string | undefined;
}

/** The part of a sandbox that the sender reads. */
interface SendingSandbox {
  readonly settings: Settings;
  /** Contains the attempts that a rule holds. */
  readonly held: HeldExchanges;
}

export interface DeliveriesParts<S extends SendingSandbox> {
  outbound: OutboundClient;
  rules: DeliveryRules;
  /** The fault of a rule with `match: { event, webhook }`, in place of the receiver's own behaviour (interfaces.md 6). */
  findFault: (sandbox: S, facts: DeliveryFacts) => DeliveryFault | undefined;
  onError: (error: unknown) => void;
  /** Called once an attempt's outcome is recorded. */
  onAttempt: (sandbox: S, attempt: CompletedAttempt) => void;
  /** Resolves or rejects once the change that led to an attempt is stored; by default attempts do not wait for it. */
  waitUntilReadyToSend?: (sandbox: S) => Promise<void>;
}

/**
 * Sends the attempts in the queue of a sandbox's world and records their outcomes. All its state follows from
 * that queue, so a restore only has to read it again. Webhooks do not wait for each other; the number of attempts under
 * way is bounded per webhook (`DeliveryQueue`), per sandbox and in all.
 */
class Dispatcher<S extends SendingSandbox> {
  private readonly parts: DeliveriesParts<S>;
  private readonly sandbox: S;
  /** Shared by all sandboxes of a server. */
  private readonly permits: Semaphore;
  /** The world of this dispatcher; set at its first commit. */
  private world!: ObservedWorld;
  private jobs = new Map<string, Job>();
  private queues = new Map<string, DeliveryQueue>();
  private sending = 0;
  /** Webhooks that wait for a free connection, the longest wait first. */
  private waitingWebhooks = new Set<string>();

  constructor(parts: DeliveriesParts<S>, sandbox: S, permits: Semaphore) {
    this.parts = parts;
    this.sandbox = sandbox;
    this.permits = permits;
  }

  /** After each commit: accepts the attempts that it queued, cancels those that it removed. */
  onCommit(world: ObservedWorld, { before, after, writes }: Commit): void {
    this.world = world;
    if (before.tables.get(queuedAttempts.name) === after.tables.get(queuedAttempts.name) || world.isClosed)
      return;
    const reader = world.read();
    for (const { collection, id } of writes) {
      if (collection !== queuedAttempts) continue;
      const queued = reader.get(queuedAttempts, id);
      const job = this.jobs.get(id);
      if (queued === undefined) job?.controller.abort();
      else if (job === undefined) this.accept(queued);
    }
  }

  /** After a restore, or at the world's end: cancels everything, and accepts the attempts of the new root. */
  onReplace(world: ObservedWorld): void {
    this.world = world;
    const { jobs } = this;
    this.jobs = new Map();
    this.queues = new Map();
    for (const job of jobs.values()) {
      job.controller.abort();
      job.end({ made: false });
    }
    if (world.isClosed) return;
    const inOrder = [...world.read().all(queuedAttempts)].sort((a, b) => a.position - b.position);
    for (const queued of inOrder) this.accept(queued);
  }

  /** Whether the attempt was made; false when it was cancelled. */
  waitForAttempt(attempt_id: string): Promise<boolean> {
    return this.jobs.get(attempt_id)?.done ?? Promise.resolve(false);
  }

  private accept(queued: QueuedAttempt): void {
    let end: Job["end"] = () => {};
    const done = new Promise<boolean>((resolve) => {
      end = ({ made }) => resolve(made);
    });
    const job: Job = { queued, controller: new AbortController(), done, end };
    this.jobs.set(queued.id, job);
    const queue = getOrAdd(this.queues, queued.webhook_id, () => new DeliveryQueue());
    queue.add(job);
    job.controller.signal.addEventListener("abort", () => this.cancel(job), { once: true });
    this.world.track(done);
    this.sendNext(queued.webhook_id);
  }

  /** An attempt that has not begun ends now; a running one ends with its request. */
  private cancel(job: Job): void {
    if (!this.queues.get(job.queued.webhook_id)?.remove(job)) return;
    this.jobs.delete(job.queued.id);
    job.end({ made: false });
    this.removeIfEmpty(job.queued.webhook_id);
  }

  private sendNext(webhook_id: string): void {
    const queue = this.queues.get(webhook_id);
    for (let job = this.findNext(queue); job !== undefined; job = this.findNext(queue)) {
      if (this.sending >= MAX_SENDING_PER_SANDBOX || !this.permits.tryAcquire(this.resume)) {
        this.waitingWebhooks.add(webhook_id);
        return;
      }
      this.send(job, queue!);
    }
    this.waitingWebhooks.delete(webhook_id);
    this.removeIfEmpty(webhook_id);
  }

  private findNext(queue: DeliveryQueue | undefined): Job | undefined {
    // The clock is pinned during an advance.
    return queue?.findNext({ isSequential: this.world.clock.pinned !== undefined });
  }

  private send(job: Job, queue: DeliveryQueue): void {
    this.sending += 1;
    queue.begin(job);
    void this.process(job)
      .catch(this.parts.onError)
      .finally(() => {
        this.sending -= 1;
        queue.finish(job);
        // Waiting webhooks go first.
        this.waitingWebhooks.add(job.queued.webhook_id);
        this.permits.release();
        this.resume();
      });
  }

  private removeIfEmpty(webhook_id: string): void {
    if (this.queues.get(webhook_id)?.isEmpty) this.queues.delete(webhook_id);
  }

  /** Called when a connection is free: sends for waiting webhooks until the sandbox's or the server's limit is reached. */
  private readonly resume = (): void => {
    for (const webhook_id of this.waitingWebhooks) {
      this.sendNext(webhook_id);
      if (this.waitingWebhooks.has(webhook_id)) return;
    }
  };

  private async process(job: Job): Promise<void> {
    const { queued, controller } = job;
    const { sandbox } = this;
    const { outbound, rules, findFault, onAttempt, waitUntilReadyToSend } = this.parts;
    let wasSent = false;
    try {
      // Even without a store, `await` lets the commit that queued the attempt end, since the outcome has its own
      // transaction. Meanwhile an undo may have removed the attempt.
      await waitUntilReadyToSend?.(sandbox).catch(() => {});
      if (this.jobs.get(queued.id) !== job) return;
      const before = this.world.read();
      const plan = rules.plan(before, queued);
      if (plan === undefined) {
        this.recordOutcome(job, (tx) => rules.discard(tx, queued));
        return;
      }
      const at = before.now;
      const { settings, held } = sandbox;
      const { answer, exchange } = await sendAttempt(
        { outbound, settings, held, findFault: (facts) => findFault(sandbox, facts) },
        { queued, plan, at: before.toEpoch(at) },
        controller.signal,
      );
      const outcome = { at, url: plan.url, ...answer };
      const record = (tx: Transaction) =>
        rules.record(tx, queued, { outcome, schedule: readSchedule(sandbox.settings) });
      wasSent =
        this.recordOutcome(job, record, { change: toChange(queued, plan, outcome) }) &&
        !controller.signal.aborted;
      if (wasSent) onAttempt(sandbox, { queued, plan, outcome, exchange });
    } catch (error) {
      // If the attempt stayed in the queue, callers would wait for it forever.
      this.recordOutcome(job, (tx) => rules.discard(tx, queued));
      throw error;
    } finally {
      job.end({ made: wasSent });
    }
  }

  /** False after a restore: the outcome must not change the restored state. */
  private recordOutcome(job: Job, change: (tx: Transaction) => void, source?: ChangeSource): boolean {
    const { id } = job.queued;
    if (this.jobs.get(id) !== job) return false;
    // Removed before the change: otherwise the change, which removes the attempt, would cancel the job.
    this.jobs.delete(id);
    try {
      this.world.transact(change, source);
    } catch (error) {
      this.jobs.set(id, job);
      throw error;
    }
    return true;
  }
}

/** Milliseconds. Settings are validated where they are set, so every delay can be parsed. */
function readSchedule({ retry_schedule }: Settings): number[] {
  return retry_schedule.map((delay) => parseDuration(delay)!);
}

export interface Deliveries<S extends SendingSandbox> {
  /** One dispatcher per world; a reset makes a new world, and the old one's dispatcher ends. */
  createWorldParts(sandbox: S): Required<Pick<WorldParts, "onCommit" | "onReplace">> & {
    timerHandlers: { "webhook.retry": TimerHandler };
  };
  waitForAttempt(sandbox: S, attempt_id: string): Promise<boolean>;
}

/** The sender of a server: a dispatcher per world over one outbound client, with a shared limit (section 6.4, G24). */
export function createDeliveries<S extends SendingSandbox>(parts: DeliveriesParts<S>): Deliveries<S> {
  const permits = new Semaphore();
  const dispatchers = new WeakMap<S, Dispatcher<S>>();
  return {
    createWorldParts(sandbox) {
      const dispatcher = new Dispatcher(parts, sandbox, permits);
      dispatchers.set(sandbox, dispatcher);
      return {
        onCommit: (world, commit) => dispatcher.onCommit(world, commit),
        onReplace: (world) => dispatcher.onReplace(world),
        timerHandlers: {
          "webhook.retry": (tx, { subject }) => {
            const id = parts.rules.queueRetry(tx, subject);
            return id === undefined ? undefined : () => dispatcher.waitForAttempt(id);
          },
        },
      };
    },
    waitForAttempt: (sandbox, attempt_id) =>
      dispatchers.get(sandbox)?.waitForAttempt(attempt_id) ?? Promise.resolve(false),
  };
}
