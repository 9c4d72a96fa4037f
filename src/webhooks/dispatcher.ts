import { parseDuration } from "../contract/duration.ts";
import { MAX_SENDING_PER_SANDBOX, type Semaphore } from "../outbound/semaphore.ts";
import type { Actor } from "../sandbox/history-entry.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import type { Commit, ListenedWorld } from "../state/world-parts.ts";
import {
  type AttemptOutcome,
  type AttemptParts,
  type AttemptPlan,
  attemptAct,
  type MadeAttempt,
  makeAttempt,
} from "./attempt.ts";
import { DeliveryQueue, type Job } from "./delivery-queue.ts";
import { type Outgoing, outgoing } from "./outgoing.ts";
import { DEFAULT_RETRY_SCHEDULE } from "./schedule.ts";

/** How records follow from attempts; `resources/webhooks/lifecycle.ts` holds the rules. */
export interface DeliveryRules {
  plan(world: WorldReader, row: Outgoing): AttemptPlan | undefined;
  record(
    tx: Transaction,
    row: Outgoing,
    result: { outcome: AttemptOutcome; schedule: readonly number[] },
  ): void;
  discard(tx: Transaction, row: Outgoing): void;
}

export interface DispatcherParts extends AttemptParts {
  /** Shared by all sandboxes of a server. */
  budget: Semaphore;
  settings: () => ReturnType<AttemptParts["settings"]> & { retry_schedule: readonly (string | number)[] };
  rules: DeliveryRules;
  onError: (error: unknown) => void;
  /** Called once its outcome is recorded. */
  onAttempt: (attempt: MadeAttempt) => void;
  /** Settles once what led to the attempt is as safe as the server promises. */
  readyToSend: () => Promise<void>;
}

/**
 * Sends what stands in one world's queue of outgoing attempts and records what came of it. It keeps nothing
 * that the root does not hold, so a restore only has to read the queue again. Webhooks do not wait for each
 * other; how much is under way at once is bounded per webhook (`DeliveryQueue`), per sandbox and in all.
 */
export class Dispatcher {
  private readonly parts: DispatcherParts;
  private world: ListenedWorld | undefined;
  private jobs = new Map<string, Job>();
  private queues = new Map<string, DeliveryQueue>();
  private sending = 0;
  /** Lanes that found no place free. */
  private starved = new Set<string>();
  /** The setting that was read last, in milliseconds. */
  private read: { retry_schedule: readonly (string | number)[]; delays: readonly number[] } | undefined;

  constructor(parts: DispatcherParts) {
    this.parts = parts;
  }

  /** After each commit: takes up what it queued, calls off what it took out of the queue. */
  onCommit(world: ListenedWorld, { before, after, written }: Commit): void {
    this.world = world;
    if (before.tables.get(outgoing.name) === after.tables.get(outgoing.name) || world.isClosed) return;
    const present = world.read();
    for (const { collection, id } of written) {
      if (collection !== outgoing) continue;
      const row = present.get(outgoing, id);
      const job = this.jobs.get(id);
      if (row === undefined) job?.controller.abort();
      else if (job === undefined) this.accept(world, row);
    }
  }

  /** After a restore, or at the world's end: lets go of everything, and takes up what the root says. */
  onReplace(world: ListenedWorld): void {
    this.world = world;
    const { jobs } = this;
    this.jobs = new Map();
    this.queues = new Map();
    this.starved.clear();
    this.parts.budget.forget(this.resume);
    for (const job of jobs.values()) {
      job.controller.abort();
      job.end(false);
    }
    if (world.isClosed) return;
    const rows = [...world.read().all(outgoing)].sort((a, b) => a.position - b.position);
    for (const row of rows) this.accept(world, row);
  }

  /** Whether the attempt was made; false when it was called off. */
  done(attempt_id: string): Promise<boolean> {
    return this.jobs.get(attempt_id)?.done ?? Promise.resolve(false);
  }

  private accept(world: ListenedWorld, row: Outgoing): void {
    let end = (_made: boolean) => {};
    const done = new Promise<boolean>((resolve) => {
      end = resolve;
    });
    const job: Job = { row, controller: new AbortController(), done, end };
    this.jobs.set(row.id, job);
    let queue = this.queues.get(row.webhook_id);
    if (queue === undefined) {
      queue = new DeliveryQueue();
      this.queues.set(row.webhook_id, queue);
    }
    queue.add(job);
    job.controller.signal.addEventListener("abort", () => this.callOff(job), { once: true });
    world.track(done);
    this.pump(row.webhook_id);
  }

  /** One that has not begun ends here; one under way ends when its request does. */
  private callOff(job: Job): void {
    if (!this.queues.get(job.row.webhook_id)?.remove(job)) return;
    this.jobs.delete(job.row.id);
    job.end(false);
    this.tidy(job.row.webhook_id);
  }

  private pump(webhook_id: string): void {
    const world = this.world;
    const queue = this.queues.get(webhook_id);
    if (queue === undefined || world === undefined || world.isClosed) return;
    for (;;) {
      const job = queue.next(world.clock.pinned !== undefined);
      if (job === undefined) break;
      if (this.sending >= MAX_SENDING_PER_SANDBOX || !this.parts.budget.take(this.resume)) {
        this.starved.add(webhook_id);
        return;
      }
      this.sending += 1;
      queue.begin(job);
      void this.make(world, job)
        .catch(this.parts.onError)
        .finally(() => {
          this.sending -= 1;
          queue.finish(job);
          this.parts.budget.release();
          this.pump(webhook_id);
          this.resume();
        });
    }
    this.tidy(webhook_id);
  }

  private tidy(webhook_id: string): void {
    if (this.queues.get(webhook_id)?.isEmpty) this.queues.delete(webhook_id);
  }

  /** A place is free: the queue that has waited longest goes on. */
  private readonly resume = (): void => {
    for (let [webhook_id] = this.starved; webhook_id !== undefined; [webhook_id] = this.starved) {
      this.starved.delete(webhook_id);
      this.pump(webhook_id);
      if (this.starved.has(webhook_id)) return;
    }
  };

  private async make(world: ListenedWorld, job: Job): Promise<void> {
    const { row, controller } = job;
    const { rules } = this.parts;
    let made = false;
    try {
      // Not within the commit that queued it: what comes of the attempt is a transaction of its own. What
      // was undone meanwhile has taken the attempt with it.
      await this.parts.readyToSend().catch(() => {});
      if (this.jobs.get(row.id) !== job) return;
      const before = world.read();
      const plan = rules.plan(before, row);
      if (plan === undefined) return this.write(world, job, (tx) => rules.discard(tx, row));
      const at = before.now;
      const { answer, exchange } = await makeAttempt(this.parts, { row, plan }, controller.signal);
      const outcome = { at, url: plan.url, ...answer };
      made = this.jobs.get(row.id) === job && !controller.signal.aborted;
      const act = attemptAct(row, plan, outcome);
      this.write(world, job, (tx) => rules.record(tx, row, { outcome, schedule: this.schedule() }), { act });
      if (made) this.parts.onAttempt({ row, plan, outcome, exchange });
    } finally {
      if (this.jobs.get(row.id) === job) this.jobs.delete(row.id);
      job.end(made);
    }
  }

  /** Work that a restore has overtaken must leave no trace in what came after. */
  private write(world: ListenedWorld, job: Job, change: (tx: Transaction) => void, by?: Actor): void {
    if (this.jobs.get(job.row.id) !== job || world.isClosed) return;
    this.jobs.delete(job.row.id);
    try {
      world.transact(change, by);
    } catch (error) {
      // Left in the queue, the row would be waited for without end.
      world.transact((tx) => this.parts.rules.discard(tx, job.row));
      throw error;
    }
  }

  private schedule(): readonly number[] {
    const { retry_schedule } = this.parts.settings();
    if (this.read?.retry_schedule !== retry_schedule) {
      const delays = retry_schedule.map((delay, i) => parseDuration(delay) ?? DEFAULT_RETRY_SCHEDULE[i] ?? 0);
      this.read = { retry_schedule, delays };
    }
    return this.read.delays;
  }
}
