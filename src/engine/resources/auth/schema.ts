import { type Static, Type } from "typebox";
import { belongsTo } from "../../contract/references.ts";
import { Instant } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

const RefreshToken = Type.Object({
  id: Type.String(),
  digest: Type.String(),
  key_id: Type.String(belongsTo("api_keys")),
  /** The key's user when the token was issued; the token is refused once the key has another user. */
  user_id: Type.String(belongsTo("users")),
  expires_at: Instant(),
});
export type RefreshToken = Static<typeof RefreshToken>;

/**
 * Unused refresh tokens (G01); only their digests are stored. They are part of the world, so that snapshots and forks
 * contain them and a reset removes them.
 */
export const refreshTokens = collection({
  name: "_refresh_tokens",
  internal: true,
  countsTowardLimit: true,
  timer: "expiry",
  schema: RefreshToken,
  indexes: {
    by_digest: { groups: ({ digest }) => [digest], order: ({ id }) => id },
    by_key: { groups: "key_id", order: ({ id }) => id },
  },
});

/** The secret that signs the access tokens of an API key: created with the first token, deleted with the key. */
export const signingKeys = collection({
  name: "_signing_keys",
  internal: true,
  schema: Type.Object({ id: Type.String(belongsTo("api_keys")), secret: Type.String() }),
});

/** The answer to both token endpoints (G01). */
export const TokenGrant = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal("Bearer"),
    expires_in: Type.Integer({ minimum: 1, description: "Seconds" }),
    refresh_token: Type.String(),
  },
  { $id: "TokenGrant" },
);
export type TokenGrant = Static<typeof TokenGrant>;
