import Type, { type Static } from "typebox";
import { belongsTo } from "../../contract/references.ts";
import { Id, NullableInstant, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";
import { digestOf } from "./digest.ts";

/** Section 2.15: `ak_` and 39 alphanumerics. */
export const KEY_PATTERN = "^ak_[A-Za-z0-9]{39}$";

export const ApiKey = Type.Object({
  id: Id("apikey_"),
  user_id: UserId(belongsTo("users")),
  /** The organization that requests with this key act in; 4.5 changes it. */
  current: Id("org_", belongsTo("organizations")),
  key: Type.String({ pattern: KEY_PATTERN }),
  name: Type.String({ minLength: 1 }),
  revoked: Type.Boolean(),
  expires_at: NullableInstant(),
});
export type ApiKey = Static<typeof ApiKey>;

export const apiKeys = collection({
  name: "api_keys",
  prefix: "apikey_",
  idField: "id",
  schema: ApiKey,
  indexes: {
    by_digest: { groups: (key) => [digestOf(key).toString("latin1")], order: (key) => key.id },
    by_user: { groups: "user_id", order: ({ id }) => id },
  },
});
