import { LAST_INSTANT } from "../state/clock.ts";
import { timers } from "../state/timers.ts";
import type { Transaction } from "../state/transaction.ts";
import type { World } from "../state/world.ts";

/** A rule, or a stage of a scenario, that may end by time. */
export interface Leased {
  readonly key: string;
  readonly lease: { subject: string; ttl_ms: number | undefined };
  /** `due`: milliseconds since 1970 on the sandbox's clock. */
  readonly progress: { due: number | undefined };
}

/**
 * Leases by time are timers of the sandbox's world, so `clock pending` lists them and `advance` ends them.
 * A restore replaces the world and must leave faults as they are (interfaces 4): the remaining time of each lease is
 * carried over.
 */
export class Leases {
  private readonly world: () => World;

  constructor(world: () => World) {
    this.world = world;
  }

  /** @param now the instant at which they begin, unless it is the present */
  begin(all: readonly Leased[], now?: number): void {
    const leased = all.filter(({ lease }) => lease.ttl_ms !== undefined);
    if (leased.length === 0) return;
    const began = now ?? this.world().epochNow();
    for (const { progress, lease } of leased) progress.due = began + lease.ttl_ms!;
    this.change((tx) => schedule(tx, leased));
  }

  end(all: readonly Leased[]): void {
    const leased = all.filter(({ progress }) => progress.due !== undefined);
    if (leased.length === 0) return;
    this.change((tx) => {
      for (const { key } of leased) tx.unschedule("lease", key);
    });
    for (const { progress } of leased) progress.due = undefined;
  }

  /** Replaces the world's lease timers by those of these holders. */
  settle(all: readonly Leased[]): void {
    const leased = all.filter(({ progress }) => progress.due !== undefined);
    const present = this.world().read();
    const stale = [...present.index(timers, "due", "")].filter(({ kind }) => kind === "lease");
    if (leased.length === 0 && stale.length === 0) return;
    this.change((tx) => {
      for (const { id } of stale) tx.remove(timers, id);
      schedule(tx, leased);
    });
  }

  /** Leases alone do not change the fixture's world: it can still be renewed, and replayed. */
  private change(change: (tx: Transaction) => void): void {
    const world = this.world();
    const { untouched } = world;
    world.transact(change);
    world.untouched = untouched;
  }

  /** Called before a restore; the returned function is called after it. */
  suspend(all: readonly Leased[]): () => void {
    const before = this.world().epochNow();
    return () => {
      const moved = this.world().epochNow() - before;
      for (const { progress } of all) if (progress.due !== undefined) progress.due += moved;
      this.settle(all);
    };
  }
}

function schedule(tx: Transaction, all: readonly Leased[]): void {
  for (const { key, progress, lease } of all) {
    const due = tx.relative(Math.min(LAST_INSTANT, progress.due!));
    tx.schedule({ kind: "lease", subject: lease.subject, key, due });
  }
}
