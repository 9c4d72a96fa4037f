import type { Transaction } from "../state/transaction.ts";
import type { FactoryContext } from "./factory.ts";

/** A state call creates its record within its transaction; the record begins at the sandbox's current time. */
export function createStateContext(
  world: Transaction,
  parts: Pick<FactoryContext, "random" | "settings">,
): FactoryContext {
  return {
    past: false,
    now: world.now,
    world,
    ...parts,
    createId: (prefix) => world.createId(prefix),
    createNewestFirstId: (prefix) => world.createNewestFirstId(prefix),
    createSecret: (label) => world.createSecret(label),
  };
}
