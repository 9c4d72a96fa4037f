import type { Resource } from "../../contract/resource.ts";
import { createToken, refreshToken } from "./operations.ts";
import { refreshTokens, signingKeys } from "./schema.ts";
import { expireRefreshToken } from "./tokens.ts";

export const authResource = {
  name: "auth",
  collections: [refreshTokens, signingKeys],
  operations: [createToken, refreshToken],
  timers: { expiry: expireRefreshToken },
} satisfies Resource;
