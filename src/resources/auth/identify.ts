import type { IncomingHttpHeaders } from "node:http";
import type { Identity } from "../../contract/operation.ts";
import type { Transaction } from "../../state/transaction.ts";
import { type ApiKey, apiKeys } from "../api-keys/schema.ts";
import { requestsPerMinute } from "../organizations/rules.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { identifyToken } from "./tokens.ts";

/**
 * Who calls, by the first credential that was sent: `api-key`, `X-API-Key`, `Authorization` (G02).
 * Undefined for every reason of section 5 rule 2; which one it was is not told.
 */
export function identify(
  tx: Transaction,
  headers: IncomingHttpHeaders,
): Identity | undefined | Promise<Identity | undefined> {
  const key = headers["api-key"] ?? headers["x-api-key"];
  if (key !== undefined) return typeof key === "string" ? identifyKey(tx, key) : undefined;
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  if (bearer === undefined) return undefined;
  return bearer.startsWith("ak_") ? identifyKey(tx, bearer) : identifyToken(tx, bearer);
}

export function identifyKey(tx: Transaction, key: string): Identity | undefined {
  const [found] = tx.index(apiKeys, "by_key", key).page(0, 1);
  return found && identityOf(tx, found, "api_key");
}

/** A key that may be used now, by a user who may use it. */
export function identityOf(
  tx: Transaction,
  key: ApiKey,
  credential: "api_key" | "token",
): Identity | undefined {
  if (key.revoked || (key.expires_at !== null && key.expires_at <= tx.now)) return undefined;
  if (tx.get(users, key.user_id)?.account !== "active") return undefined;
  const organization = tx.get(organizations, key.current);
  return {
    principal: { user_id: key.user_id, key_id: key.id, organization_id: key.current, credential },
    requests_per_minute: organization
      ? requestsPerMinute(organization)
      : requestsPerMinute({ plan: "standard", rate_limit: null }),
  };
}
