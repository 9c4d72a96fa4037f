import { fromBase64Url, fromUtf8, toBase64Url, toUtf8 } from "../../bytes.ts";
import type { Identity, Principal } from "../../contract/operation.ts";
import { digest, hmac } from "../../platform.ts";
import { DAY_MS } from "../../state/clock.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import type { TimerHandler } from "../../state/world-parts.ts";
import { findKeyProblem, toIdentity } from "../api-keys/rules.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { type RefreshToken, refreshTokens, signingKeys } from "./schema.ts";

/** The claims of an access token (G01); instants are in seconds since 1970 on the sandbox's clock. */
interface Claims {
  sub: string;
  org: string;
  key: string;
  iat: number;
  exp: number;
}

const MAX_TOKEN_LENGTH = 4096;
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const MAX_VERIFIED = 2000;

/** Claims of tokens whose signature was checked, by secret and token; the oldest are evicted first. */
const verifiedTokens = new Map<string, Claims>();

/**
 * Signs an access token. Does not use jose, which signs asynchronously, since a transaction does not wait. A
 * `jti` distinguishes tokens of the same second, which are common with a frozen clock; it is in the header (as
 * RFC 7519 allows), since the payload has the claims of G01 and no others.
 */
export function signAccessToken(tx: Transaction, principal: Principal, lifetimeSeconds: number): string {
  const iat = getSecondsNow(tx);
  const { user_id: sub, organization_id: org, key_id: key } = principal;
  const header = toBase64Json({ alg: "HS256", typ: "JWT", jti: tx.createId("tok_") });
  const signingInput = `${header}.${toBase64Json({ sub, org, key, iat, exp: iat + lifetimeSeconds })}`;
  const signature = toBase64Url(hmac("sha256", getSigningSecret(tx, key), signingInput));
  return `${signingInput}.${signature}`;
}

/**
 * Identifies the caller of this access token; `refused` for one that has expired or whose key may not be used now.
 * Undefined for one that is forged or from another world, or whose key was deleted or has another user. Asynchronous
 * only for a token that was not verified before.
 */
export function identifyToken(
  tx: Transaction,
  token: string,
): Identity | undefined | Promise<Identity | undefined> {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT_JWS.test(token)) return undefined;
  const secret = tx.get(signingKeys, readClaimedKeyId(token))?.secret;
  if (secret === undefined) return undefined;
  const cacheKey = `${secret}.${token}`;
  const claims = verifiedTokens.get(cacheKey);
  if (claims !== undefined) return identifyClaims(tx, claims);
  return verify(token, secret).then((verifiedClaims) => {
    if (verifiedClaims === undefined) return undefined;
    if (verifiedTokens.size >= MAX_VERIFIED) verifiedTokens.delete(verifiedTokens.keys().next().value!);
    verifiedTokens.set(cacheKey, verifiedClaims);
    return identifyClaims(tx, verifiedClaims);
  });
}

const HS256 = { name: "HMAC", hash: "SHA-256" };

/** jose binds the key to HS256, so neither an unsigned token nor one of another algorithm passes. */
async function verify(token: string, secret: string): Promise<Claims | undefined> {
  // Loaded with the first token, since most sandboxes have none.
  const { jwtVerify } = await import("jose");
  // Imported as a key: jose refuses bytes in a test page that has its own Uint8Array (jsdom).
  const signingKey = await crypto.subtle.importKey("raw", toUtf8(secret), HS256, false, ["verify"]);
  try {
    const { payload } = await jwtVerify(token, signingKey, {
      algorithms: ["HS256"],
      requiredClaims: ["sub", "org", "key", "iat", "exp"],
      // The expiry is checked below, at every use, by the sandbox's clock.
      currentDate: new Date(0),
    });
    const { sub, org, key, iat, exp } = payload as Partial<Claims>;
    return { sub: String(sub), org: String(org), key: String(key), iat: Number(iat), exp: Number(exp) };
  } catch {
    return undefined;
  }
}

function identifyClaims(tx: Transaction, { sub, key, exp }: Claims): Identity | undefined {
  const record = tx.get(apiKeys, key);
  if (record === undefined || record.user_id !== sub) return undefined;
  const identity = toIdentity(tx, record, "token");
  return getSecondsNow(tx) >= exp ? { ...identity, refused: true } : identity;
}

/** Describes an access token without quoting it, and says why it is refused or that it may be used. */
export async function explainToken(tx: Transaction, token: string): Promise<string> {
  if (token.length > MAX_TOKEN_LENGTH || !COMPACT_JWS.test(token))
    return "neither an API key nor an access token";
  const secret = tx.get(signingKeys, readClaimedKeyId(token))?.secret;
  const claims = secret === undefined ? undefined : await verify(token, secret);
  if (claims === undefined)
    return "an access token that this sandbox did not sign: it is forged, of another sandbox, or from before a reset";
  const record = tx.get(apiKeys, claims.key);
  if (record === undefined || record.user_id !== claims.sub)
    return `an access token of the key ${claims.key}, which ${record ? "belongs to another user now" : "was deleted"}`;
  const problem = findKeyProblem(tx, record);
  if (problem !== undefined) return `an access token of the key ${claims.key}, which ${problem}`;
  const expiry = `expired at ${new Date(claims.exp * 1000).toISOString()}`;
  return `an access token of ${claims.sub}, which ${getSecondsNow(tx) >= claims.exp ? expiry : "may be used"}`;
}

/** The id of the API key in a token that is not verified yet; empty if the token names none. */
function readClaimedKeyId(token: string): string {
  try {
    const claims: unknown = JSON.parse(fromUtf8(fromBase64Url(token.split(".")[1]!)));
    return String((claims as Partial<Claims> | null)?.key ?? "");
  } catch {
    return "";
  }
}

/**
 * The secret of an API key, created at first use and stored in the world: a fork accepts the tokens that were issued
 * before it, and a restored snapshot those issued before it was taken, while a world after a reset has other secrets and
 * accepts no earlier token. An API key that is created again gets another secret, so that tokens of the earlier key stay
 * invalid.
 */
function getSigningSecret(tx: Transaction, key_id: string): string {
  const signingKey = tx.get(signingKeys, key_id);
  if (signingKey !== undefined) return signingKey.secret;
  return tx.insert(signingKeys, { id: key_id, secret: tx.createSecret("auth/access-tokens") }).secret;
}

function getSecondsNow(world: WorldReader): number {
  return Math.floor(world.toEpoch(world.now) / 1000);
}

function toBase64Json(value: object): string {
  return toBase64Url(toUtf8(JSON.stringify(value)));
}

const REFRESH_LIFETIME_MS = 30 * DAY_MS;

/** Issues a refresh token for a key; the token is returned once and cannot be read back (G01). */
export function issueRefreshToken(
  tx: Transaction,
  { key_id, user_id }: Pick<RefreshToken, "key_id" | "user_id">,
): string {
  const id = tx.createId("rtok_");
  const token = `rt_${tx.createSecret(`refresh/${id}`)}`;
  const expires_at = tx.limitToClock(tx.now + REFRESH_LIFETIME_MS);
  tx.insert(refreshTokens, { id, digest: digestToken(token), key_id, user_id, expires_at });
  tx.schedule({ kind: "expiry", subject: id, due: expires_at });
  return token;
}

/** The record of a refresh token; undefined for one that is unknown, spent or expired. */
export function findRefreshToken(world: WorldReader, token: string): RefreshToken | undefined {
  const record = world.index(refreshTokens, "by_digest", digestToken(token)).first();
  return record !== undefined && world.now < record.expires_at ? record : undefined;
}

export const expireRefreshToken: TimerHandler = (tx, { subject }) => {
  tx.remove(refreshTokens, subject);
};

function digestToken(token: string): string {
  return toBase64Url(digest("sha256", token));
}
