import { Type } from "typebox";
import { ApiError } from "../../contract/errors.ts";
import { type Call, operation } from "../../contract/operation.ts";
import { Reply } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { findKeyProblem, identifyKey, omitRefused, toIdentity } from "../api-keys/rules.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { explainKey } from "./credentials.ts";
import { refreshTokens, signingKeys, TokenGrant } from "./schema.ts";
import { expireRefreshToken, findRefreshToken, issueRefreshToken, signAccessToken } from "./tokens.ts";

const COMMON = {
  section: "G01",
  assumptions: ["G01", "G06"],
  credentials: false,
  envelope: "C",
  errors: ["AUTHENTICATION_REQUIRED", "RATE_LIMIT_EXCEEDED"],
  success: { status: 200, schema: TokenGrant, headers: ["Cache-Control"] },
} as const;

const createToken = operation({
  ...COMMON,
  id: "auth.create_token",
  route: "POST /v1/auth/token",
  summary: "Exchange an API key for an access token",
  description:
    "Send the API key in the body, or in a header (`api-key`, `X-API-Key` or `Authorization`). If the body has a key, headers are ignored.",
  body: {
    kind: "json",
    optional: true,
    default: {},
    schema: Type.Object({ api_key: Type.Optional(Type.String()) }),
  },
  identify({ body: { api_key }, principal, world }) {
    if (api_key !== undefined)
      return (
        omitRefused(identifyKey(world, api_key)) ??
        refuse(`the body's api_key is ${explainKey(world, api_key)}`)
      );
    // Only a refresh token can renew an access token.
    if (principal?.credential === "token") return refuse("an access token does not renew itself");
    if (principal === undefined) return refuse();
    const key = world.get(apiKeys, principal.key_id);
    return omitRefused(key && toIdentity(world, key, "api_key")) ?? refuse();
  },
  handle: grantTokens,
});

const refreshToken = operation({
  ...COMMON,
  id: "auth.refresh_token",
  route: "POST /v1/auth/refresh",
  summary: "Exchange a refresh token for a new access token",
  description: "Earlier access tokens stay valid until they expire.",
  body: {
    kind: "json",
    optional: true,
    default: {},
    schema: Type.Object({ refresh_token: Type.Optional(Type.String()) }),
  },
  identify({ body: { refresh_token }, world }) {
    const token = findRefreshToken(world, refresh_token ?? "");
    if (token === undefined) return refuse(NO_REFRESH_TOKEN);
    const key = world.get(apiKeys, token.key_id);
    const refuseKey = (problem: string) => refuse(`the refresh token's key ${token.key_id} ${problem}`);
    if (key === undefined) return refuseKey("was deleted");
    if (key.user_id !== token.user_id) return refuseKey("belongs to another user now");
    return omitRefused(toIdentity(world, key, "token")) ?? refuseKey(findKeyProblem(world, key)!);
  },
  // Checked again inside the transaction, so that one of two simultaneous uses is refused.
  access: ({ body: { refresh_token }, world }) =>
    findRefreshToken(world, refresh_token ?? "") ?? refuse(NO_REFRESH_TOKEN),
  handle(call, token) {
    call.world.remove(refreshTokens, token.id);
    return grantTokens(call);
  },
});

function grantTokens({ world, principal, settings }: Call): Reply {
  const body: TokenGrant = {
    access_token: signAccessToken(world, principal, settings.token_lifetime_seconds),
    token_type: "Bearer",
    expires_in: settings.token_lifetime_seconds,
    refresh_token: issueRefreshToken(world, principal),
  };
  return new Reply(200, body, { "Cache-Control": "no-store" });
}

const NO_REFRESH_TOKEN = "the body has no refresh token that is unused and not expired";

/** @param reason for the journal, if the request's headers do not show it */
function refuse(reason?: string): never {
  throw new ApiError("AUTHENTICATION_REQUIRED", {
    reason,
    system_message: "Send an API key, or a refresh token that is neither spent nor expired.",
  });
}

export const authResource = {
  name: "auth",
  collections: [refreshTokens, signingKeys],
  operations: [createToken, refreshToken],
  timers: { expiry: expireRefreshToken },
} satisfies Resource;
