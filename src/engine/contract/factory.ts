import type { StoredRecord } from "../state/collection.ts";
import type { Random } from "../state/random.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import type { Settings } from "./settings.ts";

/**
 * The records that a factory can read: in a state call those of its transaction, in a fixture those that come earlier in
 * the document.
 */
export type RecordLookup = Pick<WorldReader, "get" | "all" | "index">;

/** The context in which a record is created. */
export interface FactoryContext {
  /** In a fixture, seeded by the record's id too. */
  readonly random: Random;
  /** The instant of its creation, in milliseconds since the sandbox's origin. */
  readonly now: number;
  /**
   * Whether the record is a fixture's, and so older than the sandbox: its instants are negative. A record of a state call
   * begins now.
   */
  readonly isFixture: boolean;
  /** Settings of the sandbox; the `dependsOnSettings` of a fixture's reader lists those that its records depend on. */
  readonly settings: Settings;
  /** The user in whose name a state call or an own operation creates the record: the author, unless the fields name another. */
  readonly actor_id?: string | undefined;
  /** The organization in which the caller of an own operation acts: the record's, unless the fields name another. */
  readonly actor_organization_id?: string | undefined;
  readonly world: RecordLookup;
  /** A fresh id such as `file_k3v9…` (section 2.1). */
  createId(prefix: string): string;
  /** In a state call, an id that sorts before all earlier ones; in a fixture, the same as `createId`. */
  createNewestFirstId(prefix: string): string;
  /** Characters for a secret; a state call's do not follow from the seed alone. */
  createSecret(label: string): string;
}

/**
 * Fills in the fields that a record leaves out, for fixtures, generated lists and state calls. Given fields stay, others
 * are derived from them, the rest is random and plausible. The order of draws determines every world of a seed, so a
 * new draw comes last.
 * @throws ApiError INVALID_INPUT if the world lacks the owner of the record
 */
export type Factory<R extends StoredRecord> = (fields: Partial<R>, context: FactoryContext) => R;

/** The instant of a record's creation: now, in a fixture `drawAge()` milliseconds before the sandbox's origin. */
export function chooseCreation({ isFixture, now }: FactoryContext, drawAge: () => number): number {
  return isFixture ? -drawAge() : now;
}

/** A state call creates its record within its transaction; the record begins at the sandbox's current time. */
export function createStateContext(
  world: Transaction,
  parts: Pick<FactoryContext, "random" | "settings" | "actor_id" | "actor_organization_id">,
): FactoryContext {
  return {
    isFixture: false,
    now: world.now,
    world,
    ...parts,
    createId: (prefix) => world.createId(prefix),
    createNewestFirstId: (prefix) => world.createNewestFirstId(prefix),
    createSecret: (label) => world.createSecret(label),
  };
}

const SECRET_LENGTH = 40;

/** A record outside a transaction, of a fixture or a sample, has ids and secrets that follow from its own generator. */
export function createSeededContext(
  random: Random,
  parts: Pick<FactoryContext, "now" | "isFixture" | "settings" | "world">,
): FactoryContext {
  const createId = (prefix: string) => random.id(prefix);
  const createSecret = () => random.characters(SECRET_LENGTH);
  return { random, ...parts, createId, createNewestFirstId: createId, createSecret };
}
