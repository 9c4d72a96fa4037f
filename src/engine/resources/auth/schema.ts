import { type Static, Type } from "typebox";
import { belongsTo } from "../../contract/references.ts";
import { Instant } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/**
 * G01: an unused refresh token; only its digest is stored. Part of the world like any record,
 * so that snapshots and forks contain it and a reset removes it.
 */
export interface RefreshToken {
  id: string;
  digest: string;
  key_id: string;
  /** The key's user at that time: a key with another user since then renews no token. */
  user_id: string;
  expires_at: number;
}

export const refreshTokens = collection({
  name: "_refresh_tokens",
  internal: true,
  counted: true,
  timer: "expiry",
  schema: Type.Object({
    id: Type.String(),
    digest: Type.String(),
    key_id: Type.String(belongsTo("api_keys")),
    user_id: Type.String(belongsTo("users")),
    expires_at: Instant(),
  }),
  indexes: {
    by_digest: { groups: ({ digest }) => [digest], order: ({ id }) => id },
    by_key: { groups: "key_id", order: ({ id }) => id },
  },
});

/** The secret that signs the access tokens of an API key: created with the first token, deleted with the key. */
export interface SigningKey {
  /** Id of the API key. */
  id: string;
  secret: string;
}

export const signingKeys = collection({
  name: "_signing_keys",
  internal: true,
  schema: Type.Object({ id: Type.String(belongsTo("api_keys")), secret: Type.String() }),
});

/** G01's answer to both of its calls. */
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
