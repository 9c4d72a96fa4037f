import type { FactoryContext } from "../../engine/contract/factory.ts";
import type { Settings } from "../../engine/contract/settings.ts";
import type { Random } from "../../engine/state/random.ts";
import type { Transaction } from "../../engine/state/transaction.ts";

/** A state call makes its record among those of its transaction, and the record begins at the sandbox's now. */
export class StateContext implements FactoryContext {
  readonly past = false;
  readonly now: number;
  readonly random: Random;
  readonly settings: Settings;
  readonly world: Transaction;

  constructor(tx: Transaction, { random, settings }: { random: Random; settings: Settings }) {
    this.now = tx.now;
    this.random = random;
    this.settings = settings;
    this.world = tx;
  }

  newId(prefix: string): string {
    return this.world.newId(prefix);
  }

  newestFirstId(prefix: string): string {
    return this.world.newestFirstId(prefix);
  }

  secret(label: string): string {
    return this.world.secret(label);
  }
}
