import type { Identity } from "../../contract/operation.ts";
import type { Transaction } from "../../state/transaction.ts";

/** Placeholder until G01 lands. */
export function identifyToken(_tx: Transaction, _token: string): Identity | undefined {
  return undefined;
}
