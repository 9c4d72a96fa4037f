import type { IncomingHttpHeaders } from "node:http";
import type { Identity } from "../../contract/operation.ts";
import type { Transaction } from "../../state/transaction.ts";
import { identifyKey } from "./identity.ts";
import { identifyToken } from "./tokens.ts";

/**
 * Who calls, by the first credential that was sent: `api-key`, `X-API-Key`, `Authorization` (G02).
 * Undefined where nobody can be told from it, `refused` where somebody can who may not call; which reason of
 * section 5 rule 2 it was is not told.
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
