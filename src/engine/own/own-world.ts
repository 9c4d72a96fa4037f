import { type Api, findEvent } from "../contract/api.ts";
import { OwnOperationError } from "../contract/errors.ts";
import { emit } from "../contract/event.ts";
import type { Call } from "../contract/operation.ts";
import { mapCollections, PublicCollection } from "../contract/public-collection.ts";
import type { StateActor } from "../contract/resource.ts";
import { DEFAULT_SETTINGS } from "../contract/settings.ts";
import { toHint } from "../contract/text.ts";
import { copyJson, getOrAdd } from "../maps.ts";
import type { AnyCollection } from "../state/collection.ts";
import type { Transaction } from "../state/transaction.ts";
import { CallTransaction, OwnRecords } from "./own-records.ts";

type Fields = Record<string, unknown>;

const collectionsByApi = new WeakMap<Api, ReadonlyMap<string, PublicCollection>>();

/** Lists collections by name, without internal ones. */
function getPublicCollections(api: Api): ReadonlyMap<string, PublicCollection> {
  return getOrAdd(collectionsByApi, api, () =>
    mapCollections(api.resources, (one, resource) => new PublicCollection(one, resource)),
  );
}

interface WorldSource extends Pick<Call, "api" | "world" | "settings">, Partial<Pick<Call, "principal">> {
  /** For a function that may only read: its name in the error of a change. */
  readerName?: string;
}

const worldClasses = new WeakMap<Api, typeof OwnWorld>();

/** The world that handlers of users' own operations get: records in their public form, as copies. */
export class OwnWorld {
  readonly #api: Api;
  readonly #transaction: CallTransaction;
  readonly #actor: StateActor;

  constructor({ api, world, principal, settings, readerName }: WorldSource) {
    this.#api = api as Api;
    this.#transaction = new CallTransaction(world, readerName);
    const { user_id, organization_id } = principal ?? {};
    this.#actor = { user_id, organization_id, silent: false, settings };
  }

  /** Creates a world with a property for each collection, except those named like another of its members. */
  static create(source: WorldSource): OwnWorld {
    const api = source.api as Api;
    const World = getOrAdd(worldClasses, api, () => {
      class World extends OwnWorld {}
      for (const [name, collection] of getPublicCollections(api)) {
        if (name in OwnWorld.prototype) continue;
        Object.defineProperty(World.prototype, name, {
          get(this: OwnWorld) {
            return this.getRecords(collection);
          },
        });
      }
      return World;
    });
    return new World(source);
  }

  get #tx(): Transaction {
    return this.#transaction.tx;
  }

  /** Later uses throw. @param operation that has ended, for the error */
  end(operation: string): void {
    this.#transaction.endedBy = operation;
  }

  get now(): string {
    return this.#tx.toIso(this.#tx.now);
  }

  newId(prefix: string): string {
    return this.#tx.createId(prefix);
  }

  random(): number {
    return this.#tx.random("own").float();
  }

  of(declared: { name: string } | undefined): OwnRecords {
    const collections = getPublicCollections(this.#api);
    const name = String(declared?.name);
    const collection = collections.get(name);
    if (collection === undefined)
      throw new OwnOperationError(`there is no collection ${name}${toHint(name, collections.keys())}`);
    return this.getRecords(collection);
  }

  emit(event: string | { name: string } | undefined, record: object): void {
    const name = typeof event === "string" ? event : String(event?.name);
    const declaredEvent = findEvent(this.#api, name);
    const listNames = () => this.#api.events.map((one) => one.name);
    if (declaredEvent === undefined)
      throw new OwnOperationError(`there is no event ${name}${toHint(name, listNames())}`);
    const { about } = declaredEvent;
    const [collection] = about.collections;
    const publicCollection = collection && getPublicCollections(this.#api).get(collection.name);
    const id = (record as Fields | undefined)?.[collection?.idField ?? "id"];
    const subject = about.find(this.#tx, String(id)) ?? publicCollection?.toStored({ ...record }, this.#tx);
    // The subject of usage events is a budget, which has no id, and whose `about` has no `idAlias`.
    if (subject === undefined || (id === undefined && about.idAlias !== undefined))
      throw new OwnOperationError(`${name} needs the record that it is about`);
    emit(this.#transaction.writable, declaredEvent, subject);
  }

  private getRecords(collection: PublicCollection): OwnRecords {
    return new OwnRecords(collection, this.#transaction, this.#actor);
  }
}

/**
 * The arguments for a function of a user that reads a record: the record as handlers get it, and a world that refuses
 * changes. Code that emits events knows neither the caller nor the sandbox, so that world has no caller, and has the
 * default settings.
 */
export function toUserArguments(
  record: object,
  { name }: AnyCollection,
  { api, tx, readerName }: { api: Api; tx: Transaction; readerName: string },
): [record: object, world: OwnWorld] {
  const publicRecord = getPublicCollections(api).get(name)?.toPublic(record, tx) ?? record;
  const world = OwnWorld.create({ api, world: tx, settings: DEFAULT_SETTINGS, readerName });
  return [copyJson(publicRecord) as Fields, world];
}
