import type { Transaction } from "../../state/transaction.ts";
import { dropRefreshTokens } from "../auth/refresh-tokens.ts";
import { type ApiKey, apiKeys } from "./schema.ts";

/** A key goes with what hangs on it: its sessions can no longer be renewed. */
export function removeKey(tx: Transaction, { id }: ApiKey): void {
  dropRefreshTokens(tx, id);
  tx.remove(apiKeys, id);
}
