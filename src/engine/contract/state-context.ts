import type { Random } from "../state/random.ts";
import type { Transaction } from "../state/transaction.ts";
import type { FactoryContext } from "./factory.ts";
import type { Settings } from "./settings.ts";

/** A state call creates its record within its transaction; the record begins at the sandbox's current time. */
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
    return this.world.createSecret(label);
  }
}
