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
    newId: (prefix) => world.newId(prefix),
    newestFirstId: (prefix) => world.newestFirstId(prefix),
    secret: (label) => world.createSecret(label),
  };
}
