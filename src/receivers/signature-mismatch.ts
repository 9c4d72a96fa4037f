import { createHash, createHmac } from "node:crypto";
import { bodyVariants } from "./body-variants.ts";

const PREFIX = "sha256=";
const HEX_LENGTH = 64;

/** Why a signature was judged as it was; stable names for tests, reports and the receiver grader. */
export type VerdictCode =
  | "match"
  | "no-header"
  | "empty-header"
  | "repeated-header"
  | "no-secret"
  | "no-prefix"
  | "wrong-prefix"
  | "surrounding-space"
  | "upper-case"
  | "wrong-encoding"
  | "truncated"
  | "wrong-length"
  | "wrong-algorithm"
  | "wrong-secret"
  | "body-changed"
  | "mismatch";

interface Mismatch {
  secret: string;
  value: string;
  body: Uint8Array;
  candidates: readonly { label: string; secret: string }[];
}

interface Explanation {
  code: VerdictCode;
  reason: string;
}

/** Finds the most likely cause of a signature that does not match; form first, then key, then bytes (6.3). */
export function explainMismatch(mismatch: Mismatch): Explanation {
  const { value } = mismatch;
  if (value !== value.trim()) {
    return { code: "surrounding-space", reason: "the header's value has spaces around it" };
  }
  if (value.includes(",")) {
    return { code: "repeated-header", reason: "the header holds several values separated by commas" };
  }
  if (!value.startsWith(PREFIX)) return explainPrefix(value, mismatch);
  const digest = value.slice(PREFIX.length);
  return explainForm(digest, mismatch) ?? explainKeyOrBody(digest, mismatch);
}

function explainPrefix(value: string, mismatch: Mismatch): Explanation {
  const found = /^([A-Za-z][\w-]{0,30})\s*[=:]/.exec(value)?.[1];
  const isBareDigest = /^[0-9a-f]+$/i.test(value) || isBase64Of(value, mismatch);
  if (isBareDigest || found === undefined) {
    return { code: "no-prefix", reason: `the value must start with "${PREFIX}"; it starts with the digest` };
  }
  const spelling = found.toLowerCase() === "sha256" ? " (exactly so: lower case, then =)" : "";
  return {
    code: "wrong-prefix",
    reason: `the value must start with "${PREFIX}"${spelling}; it starts with "${value.slice(0, found.length + 1)}"`,
  };
}

/** Looks at the spelling of the digest alone: encoding, case and length. */
function explainForm(digest: string, mismatch: Mismatch): Explanation | null {
  const expected = hmac(mismatch.secret, mismatch.body);
  if (digest.toLowerCase() === expected) {
    return {
      code: "upper-case",
      reason: "the digest is right but must be lowercase hex; it has upper-case letters",
    };
  }
  if (!/^[0-9a-f]*$/i.test(digest)) {
    const encoding = isBase64Of(digest, mismatch)
      ? "the right digest in base64"
      : /^[A-Za-z0-9+/_-]{40,}={0,2}$/.test(digest)
        ? "what looks like base64"
        : "characters that are not hex";
    return { code: "wrong-encoding", reason: `the digest must be lowercase hex; it holds ${encoding}` };
  }
  if (digest.length === HEX_LENGTH) return null;
  if (digest !== "" && expected.startsWith(digest.toLowerCase())) {
    return {
      code: "truncated",
      reason: `the digest is cut off: right so far, but ${digest.length} of ${HEX_LENGTH} characters`,
    };
  }
  const algorithm = { 32: "md5", 40: "sha1", 96: "sha384", 128: "sha512" }[digest.length];
  if (algorithm !== undefined) {
    return {
      code: "wrong-algorithm",
      reason: `the digest has ${digest.length} characters, the length of ${algorithm}; SHA-256 has ${HEX_LENGTH}`,
    };
  }
  return {
    code: "wrong-length",
    reason: `the digest has ${digest.length} characters instead of ${HEX_LENGTH}`,
  };
}

/** The form is right, so either the key or the bytes differ: tries the known mistakes until one reproduces it. */
function explainKeyOrBody(given: string, { secret, body, candidates }: Mismatch): Explanation {
  const digest = given.toLowerCase();
  if (createHash("sha256").update(body).digest("hex") === digest) {
    return {
      code: "wrong-algorithm",
      reason: "this is a plain SHA-256 of the body; an HMAC with the secret is needed",
    };
  }
  for (const [label, key] of [...misreadSecrets(secret), ...candidates.map(labelled)]) {
    if (hmac(key, body) === digest) {
      return { code: "wrong-secret", reason: `wrong secret: the body was signed with ${label}` };
    }
  }
  for (const [label, variant] of bodyVariants(body)) {
    if (hmac(secret, variant) === digest) {
      return {
        code: "body-changed",
        reason: `the body changed after signing, or other bytes were signed: the signature fits ${label}`,
      };
    }
  }
  return {
    code: "mismatch",
    reason: `the digest does not fit these ${body.length} bytes: another secret was used, or the body changed after signing`,
  };
}

function labelled({ label, secret }: { label: string; secret: string }): [string, string] {
  return [label, secret];
}

/** Ways in which receivers commonly get hold of not quite the secret. */
function misreadSecrets(secret: string): [string, string | Uint8Array][] {
  const bare = secret.replace(/^whsec_/, "");
  const variants: [string, string | Uint8Array][] = [
    ["an empty secret", ""],
    ["the secret and a line break after it", `${secret}\n`],
    ["the secret in quotation marks", `"${secret}"`],
    ["the secret in lower case", secret.toLowerCase()],
  ];
  if (secret !== secret.trim()) variants.push(["the secret without the spaces around it", secret.trim()]);
  if (bare !== secret) {
    variants.push(["the secret without its whsec_ prefix", bare]);
    variants.push(["the secret's part after whsec_, decoded from base64", Buffer.from(bare, "base64")]);
  }
  return variants.filter(([, key]) => key !== secret);
}

function isBase64Of(text: string, { secret, body }: Mismatch): boolean {
  const expected = hmac(secret, body);
  const decoded = Buffer.from(text, "base64");
  return decoded.toString("hex") === expected || decoded.toString("latin1") === expected;
}

function hmac(secret: string | Uint8Array, bytes: Uint8Array): string {
  return createHmac("sha256", secret).update(bytes).digest("hex");
}
