import { createStateContext } from "../../src/engine/contract/factory.ts";
import { requireReferences } from "../../src/engine/contract/references.ts";
import { removeWithDependents } from "../../src/engine/contract/removal.ts";
import type { StateRules } from "../../src/engine/contract/resource.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import type { AnyCollection } from "../../src/engine/state/collection.ts";
import type { EmittedEvent, Transaction } from "../../src/engine/state/transaction.ts";
import type { Api } from "./harness.ts";

/** A record of any collection. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every shape
type Row = any;
interface RuleResult {
  record: Row;
  emitted: readonly EmittedEvent[];
}

/** Runs a collection's state rules in the default sandbox, without the control API. */
export function getStateRules(api: Pick<Api, "understudy">, name: string) {
  const owner = RESOURCES.find(({ collections }) => collections.some((known) => known.name === name))!;
  const collection = owner.collections.find((known) => known.name === name) as AnyCollection;
  const rules = (owner.state?.[name] ?? {}) as StateRules<Row>;
  const make = owner.factories![name]!;
  const run = (change: (tx: Transaction) => Row): RuleResult =>
    api.understudy.sandboxes.get("default")!.world.transact((tx) => {
      const record = change(tx);
      return { record, emitted: tx.events };
    });
  return {
    post: (fields: object, actor: { user_id?: string; silent?: boolean } = {}) =>
      run((tx) => {
        requireReferences(tx, collection, fields);
        const making = createStateContext(tx, { random: tx.random(name), settings: DEFAULT_SETTINGS });
        const record = make(fields, making);
        return rules.insert?.(tx, record, toActor(actor)) ?? tx.insert(collection, record);
      }),
    patch: (id: string, fields: object, actor: { user_id?: string; silent?: boolean } = {}) =>
      run((tx) => {
        requireReferences(tx, collection, fields);
        const before = tx.get(collection, id)!;
        const after = { ...before, ...fields };
        return rules.update?.(tx, before, after, toActor(actor), fields) ?? tx.put(collection, after);
      }),
    remove: (id: string, actor: { user_id?: string; silent?: boolean } = {}) =>
      run((tx) => {
        const record = tx.get(collection, id)!;
        rules.beforeRemove?.(tx, record, toActor(actor));
        removeWithDependents(tx, collection, id);
      }),
    get: (id: string): Row => api.understudy.sandboxes.get("default")!.world.read().get(collection, id),
    size: (): number => api.understudy.sandboxes.get("default")!.world.read().all(collection).size,
  };
}

function toActor({ user_id, silent = false }: { user_id?: string; silent?: boolean }) {
  return { user_id, silent, settings: DEFAULT_SETTINGS };
}
