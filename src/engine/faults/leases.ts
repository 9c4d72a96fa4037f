import { LAST_INSTANT } from "../state/clock.ts";
import { timers } from "../state/timers.ts";
import type { Transaction } from "../state/transaction.ts";
import type { World } from "../state/world.ts";
import type { ArmedRule } from "./rule.ts";

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

  begin(rules: readonly ArmedRule[]): void {
    const leased = rules.filter(({ rule }) => rule.lease.ttl_ms !== undefined);
    if (leased.length === 0) return;
    const now = this.world().epochNow();
    for (const { progress, rule } of leased) progress.due = now + rule.lease.ttl_ms!;
    this.change((tx) => schedule(tx, leased));
  }

  end(rules: readonly ArmedRule[]): void {
    const leased = rules.filter(({ progress }) => progress.due !== undefined);
    if (leased.length === 0) return;
    this.change((tx) => {
      for (const { key } of leased) tx.unschedule("lease", key);
    });
    for (const { progress } of leased) progress.due = undefined;
  }

  /** Replaces the world's lease timers by those of these rules. */
  settle(rules: readonly ArmedRule[]): void {
    const leased = rules.filter(({ progress }) => progress.due !== undefined);
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
  suspend(rules: readonly ArmedRule[]): () => void {
    const before = this.world().epochNow();
    return () => {
      const moved = this.world().epochNow() - before;
      for (const { progress } of rules) if (progress.due !== undefined) progress.due += moved;
      this.settle(rules);
    };
  }
}

function schedule(tx: Transaction, rules: readonly ArmedRule[]): void {
  for (const { key, progress, rule } of rules) {
    const due = tx.relative(Math.min(LAST_INSTANT, progress.due!));
    tx.schedule({ kind: "lease", subject: rule.id, key, due });
  }
}
