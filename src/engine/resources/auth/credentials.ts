import type { Identity, RequestHeaders } from "../../contract/operation.ts";
import { isJoinedHeader } from "../../contract/text.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { findKey, findKeyProblem, identifyKey } from "../api-keys/rules.ts";
import { KEY_PATTERN } from "../api-keys/schema.ts";
import { explainToken, identifyToken } from "./tokens.ts";

/**
 * Identifies the caller by the first credential that was sent: `api-key`, `X-API-Key`, `Authorization` (G02). Undefined
 * for an unknown credential; `refused` for a known caller who may not call. The answer does not say which reason of
 * section 5 rule 2 applied.
 */
export function identify(
  tx: Transaction,
  headers: RequestHeaders,
): Identity | undefined | Promise<Identity | undefined> {
  const key = headers["api-key"] ?? headers["x-api-key"];
  if (key !== undefined) return typeof key === "string" ? identifyKey(tx, key) : undefined;
  const bearer = BEARER.exec(String(headers["authorization"] ?? ""))?.[1];
  if (bearer === undefined) return undefined;
  return bearer.startsWith("ak_") ? identifyKey(tx, bearer) : identifyToken(tx, bearer);
}

const BEARER = /^Bearer +(\S+) *$/i;
const SENT_TWICE = "several values, as it was sent twice";
const VALID_KEY = new RegExp(KEY_PATTERN);

/**
 * Explains which credential was found in which header, and what is wrong with it (interfaces.md 11). The journal shows the
 * explanation, the answer does not (section 5 rule 2). The explanation contains no part of a secret.
 * @param prefix names the place of a credential that is in neither of the headers for keys
 */
export async function explainCredentials(
  tx: Transaction,
  headers: RequestHeaders,
  prefix = "Authorization holds",
): Promise<string> {
  const header = headers["api-key"] !== undefined ? "api-key" : "X-API-Key";
  const key = headers["api-key"] ?? headers["x-api-key"];
  if (key !== undefined) {
    const note = headers.authorization === undefined ? "" : "; Authorization is then ignored";
    return `${header} holds ${explainKey(tx, String(key))}${note}`;
  }
  if (headers["authorization"] === undefined)
    return "no credential was sent: neither api-key nor X-API-Key nor Authorization";
  const authorization = String(headers["authorization"]);
  if (/^(Bearer |ak_)/i.test(authorization) && isJoinedHeader(authorization))
    return `${prefix} ${SENT_TWICE}`;
  const bearer = BEARER.exec(authorization)?.[1];
  if (bearer === undefined) return `Authorization ${explainScheme(authorization)}`;
  const explanation = bearer.startsWith("ak_") ? explainKey(tx, bearer) : await explainToken(tx, bearer);
  return `${prefix} ${explanation}`;
}

function explainScheme(authorization: string): string {
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  if (/^bearer$/i.test(scheme))
    return rest.length === 0
      ? "says Bearer, and nothing after it"
      : "holds several words after Bearer; one credential is expected";
  if (scheme.startsWith("ak_")) return "holds an API key without `Bearer` before it";
  return `has ${rest.length === 0 ? "no scheme" : `the scheme ${scheme.slice(0, 20)}`}; \`Bearer\` is expected`;
}

/** Describes an API key that was sent: whose it is, and why it is refused or that it may be used. */
export function explainKey(world: WorldReader, key: string): string {
  const record = findKey(world, key);
  if (record !== undefined)
    return `the key ${record.id} of ${record.user_id}, which ${findKeyProblem(world, record) ?? "may be used"}`;
  if (key === "") return "nothing";
  if (isJoinedHeader(key)) return SENT_TWICE;
  if (!VALID_KEY.test(key)) return "a value that is not an API key (ak_ and 39 letters or digits)";
  return "an API key that this sandbox does not have";
}
