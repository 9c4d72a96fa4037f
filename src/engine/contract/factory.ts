import type { StoredRecord } from "../state/collection.ts";
import type { Random } from "../state/random.ts";
import type { WorldReader } from "../state/transaction.ts";
import type { Settings } from "./settings.ts";

/**
 * The records that exist while one is made: in a state call those of its transaction, in a fixture those of the
 * document, in its order.
 */
export type RecordLookup = Pick<WorldReader, "get" | "all" | "index">;

/** The surroundings in which a record is made. */
export interface FactoryContext {
  /** A fixture's generator depends on the record's id. */
  readonly random: Random;
  /** The instant at which it is made, in milliseconds of the sandbox's origin. */
  readonly now: number;
  /** Whether the record has been there for a while, as a fixture's have; what a state call makes begins now. */
  readonly past: boolean;
  /** Settings of the sandbox; a fixture's reader `follows` those that its records are made by. */
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
 * Fills in the fields that a record leaves out, for fixtures, for numbers in place of lists and for state calls. Given
 * fields stay, others are derived from them, the rest is plausible and drawn. The draws and their order are part of
 * every world of a seed: a new draw comes last.
 * @throws ApiError INVALID_INPUT where the world has nothing that the record could belong to
 */
export type Factory<R extends StoredRecord> = (given: Partial<R>, context: FactoryContext) => R;
