import type { Tables } from "./tables.ts";

/**
 * The whole world as one immutable value. Reset, snapshot, fork and rollback each keep or swap a
 * reference to one of these.
 */
export interface Root {
  readonly tables: Tables;
  /** How many ids and labelled draws were made; part of the value, so that restoring repeats them. */
  readonly draws: number;
}
