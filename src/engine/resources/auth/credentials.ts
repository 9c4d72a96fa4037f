import type { Identity, RequestHeaders } from "../../contract/operation.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { findKey } from "../api-keys/rules.ts";
import { KEY_PATTERN } from "../api-keys/schema.ts";
import { findKeyProblem, identifyKey } from "./identity.ts";
import { explainToken, identifyToken } from "./tokens.ts";

/**
 * Who calls, by the first credential that was sent: `api-key`, `X-API-Key`, `Authorization` (G02).
 * Undefined where nobody can be told from it, `refused` where somebody can who may not call; which reason of
 * section 5 rule 2 it was is not told.
 */
export function identify(
  tx: Transaction,
  headers: RequestHeaders,
): Identity | undefined | Promise<Identity | undefined> {
  const key = headers["api-key"] ?? headers["x-api-key"];
  if (key !== undefined) return typeof key === "string" ? identifyKey(tx, key) : undefined;
  const bearer = /^Bearer +(\S+) *$/i.exec(String(headers["authorization"] ?? ""))?.[1];
  if (bearer === undefined) return undefined;
  return bearer.startsWith("ak_") ? identifyKey(tx, bearer) : identifyToken(tx, bearer);
}

const WELL_FORMED = new RegExp(KEY_PATTERN);

/**
 * Which credential was found where, and what is wrong with it (interfaces 11): for the journal, never for the
 * answer, which keeps it to itself (section 5 rule 2). No part of a secret is told.
 */
export async function explainCredentials(tx: Transaction, headers: RequestHeaders): Promise<string> {
  const header = headers["api-key"] !== undefined ? "api-key" : "X-API-Key";
  const key = headers["api-key"] ?? headers["x-api-key"];
  if (key !== undefined) {
    const beside = headers.authorization === undefined ? "" : "; Authorization is not looked at beside it";
    return `${header} holds ${explainKey(tx, String(key))}${beside}`;
  }
  if (headers["authorization"] === undefined)
    return "no credential was sent: neither api-key nor X-API-Key nor Authorization";
  const authorization = String(headers["authorization"]);
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer === undefined) return `Authorization ${explainScheme(authorization)}`;
  const found = bearer.startsWith("ak_") ? explainKey(tx, bearer) : await explainToken(tx, bearer);
  return `Authorization holds ${found}`;
}

function explainScheme(authorization: string): string {
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  if (/^bearer$/i.test(scheme))
    return rest.length === 0
      ? "says Bearer, and nothing behind it"
      : "holds several words behind Bearer; one credential is asked for";
  if (scheme.startsWith("ak_")) return "holds an API key without `Bearer` before it";
  return `has ${rest.length === 0 ? "no scheme" : `the scheme ${scheme.slice(0, 20)}`}; \`Bearer\` is asked for`;
}

/** An API key as it was sent, and why it is refused. */
export function explainKey(world: WorldReader, key: string): string {
  const found = findKey(world, key);
  if (found !== undefined)
    return `the key ${found.id} of ${found.user_id}, which ${findKeyProblem(world, found) ?? "may be used"}`;
  if (key === "") return "nothing";
  if (!WELL_FORMED.test(key)) return "what is no API key: one is ak_ and 39 letters and digits";
  return "an API key that this sandbox does not have";
}
