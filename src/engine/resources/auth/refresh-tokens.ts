import { createHash } from "node:crypto";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import type { TimerHandler } from "../../state/world-parts.ts";
import { type RefreshToken, refreshTokens } from "./schema.ts";

const LIFETIME_MS = 30 * 86_400_000;

/** A new refresh token for a key; the text is handed out once and cannot be read back (G01). */
export function issueRefreshToken(
  tx: Transaction,
  { key_id, user_id }: Pick<RefreshToken, "key_id" | "user_id">,
): string {
  const id = tx.newId("rtok_");
  const token = `rt_${tx.secret(`refresh/${id}`)}`;
  const expires_at = tx.now + LIFETIME_MS;
  tx.insert(refreshTokens, { id, digest: digestOf(token), key_id, user_id, expires_at });
  tx.schedule({ kind: "expiry", subject: id, due: expires_at });
  return token;
}

/** The token's record while it is neither spent nor expired. */
export function findRefreshToken(world: WorldReader, token: string): RefreshToken | undefined {
  const [found] = world.index(refreshTokens, "by_digest", digestOf(token)).page(0, 1);
  return found !== undefined && world.now < found.expires_at ? found : undefined;
}

export function spendRefreshToken(tx: Transaction, { id }: RefreshToken): void {
  tx.remove(refreshTokens, id);
}

export const expireRefreshToken: TimerHandler = (tx, { subject }) => {
  tx.remove(refreshTokens, subject);
};

function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
