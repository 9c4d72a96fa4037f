import type { StoredRecord } from "../state/collection.ts";
import type { Random } from "../state/random.ts";
import type { WorldReader } from "../state/transaction.ts";
import type { Settings } from "./settings.ts";

/**
 * The records among which one is made: in a state call those of its transaction, in a fixture those of the
 * document, in its order.
 */
export type RecordLookup = Pick<WorldReader, "get" | "all" | "index">;

/** For whom a record is made, and with what. */
export interface FactoryContext {
  /** Drawn from alike by fixtures and state calls; a fixture's is told apart by the record's id. */
  readonly random: Random;
  /** The instant at which it is made, as records hold instants. */
  readonly now: number;
  /** Whether the record has been there for a while, as a fixture's have; what a state call makes begins now. */
  readonly past: boolean;
  /** Of the sandbox; a fixture's reader `follows` those that its records are made by. */
  readonly settings: Settings;
  readonly world: RecordLookup;
  /** A fresh id such as `file_k3v9…` (section 2.1). */
  newId(prefix: string): string;
  /** One that sorts before all that were made earlier. */
  newestFirstId(prefix: string): string;
  /** Characters for a secret; a state call's cannot be guessed from the seed. */
  secret(label: string): string;
}

/**
 * Fills in what is left out of a record, for fixtures, for numbers that stand for lists and for state calls
 * alike: what is given is kept, what follows from it is derived, the rest is plausible and drawn. What is drawn,
 * and in which order, is part of every world that a seed has made: a new draw comes last.
 * @throws ApiError INVALID_INPUT where the world has nothing that the record could belong to
 */
export type Factory<R extends StoredRecord> = (given: Partial<R>, context: FactoryContext) => R;
