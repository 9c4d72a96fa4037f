import type { IncomingHttpHeaders } from "node:http";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { findKey } from "../api-keys/find-key.ts";
import { KEY_PATTERN } from "../api-keys/schema.ts";
import { keyTrouble } from "./identity.ts";
import { tellToken } from "./tokens.ts";

const WELL_FORMED = new RegExp(KEY_PATTERN);

/**
 * Which credential was found where, and what is wrong with it (interfaces 11): for the journal, never for the
 * answer, which keeps it to itself (section 5 rule 2). No part of a secret is told.
 */
export async function explainCredentials(tx: Transaction, headers: IncomingHttpHeaders): Promise<string> {
  const header = headers["api-key"] !== undefined ? "api-key" : "X-API-Key";
  const key = headers["api-key"] ?? headers["x-api-key"];
  if (key !== undefined) {
    const beside = headers.authorization === undefined ? "" : "; Authorization is not looked at beside it";
    return `${header} holds ${tellKey(tx, String(key))}${beside}`;
  }
  const { authorization } = headers;
  if (authorization === undefined)
    return "no credential was sent: neither api-key nor X-API-Key nor Authorization";
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer === undefined) return `Authorization ${whyNoBearer(authorization)}`;
  const found = bearer.startsWith("ak_") ? tellKey(tx, bearer) : await tellToken(tx, bearer);
  return `Authorization holds ${found}`;
}

function whyNoBearer(authorization: string): string {
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  if (/^bearer$/i.test(scheme))
    return rest.length === 0
      ? "says Bearer, and nothing behind it"
      : "holds several words behind Bearer; one credential is asked for";
  if (scheme.startsWith("ak_")) return "holds an API key without `Bearer` before it";
  return `has ${rest.length === 0 ? "no scheme" : `the scheme ${scheme.slice(0, 20)}`}; \`Bearer\` is asked for`;
}

/** An API key as it was sent, and why it is refused. */
export function tellKey(world: WorldReader, key: string): string {
  const found = findKey(world, key);
  if (found !== undefined)
    return `the key ${found.id} of ${found.user_id}, which ${keyTrouble(world, found) ?? "may be used"}`;
  if (key === "") return "nothing";
  if (!WELL_FORMED.test(key)) return "what is no API key: one is ak_ and 39 letters and digits";
  return "an API key that this sandbox does not have";
}
