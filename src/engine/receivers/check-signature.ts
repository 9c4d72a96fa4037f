import { areBytesEqual } from "../bytes.ts";
import { hmac } from "../platform.ts";
import { SIGNATURE_HEADER, sign } from "../webhooks/sign.ts";
import { type Explanation, explainMismatch, FIXES, type VerdictCode } from "./signature-mismatch.ts";

type Verdict = "valid" | "invalid" | "missing";

export interface SignatureVerdict extends Explanation {
  verdict: Verdict;
}

interface SignatureInput {
  /** Undefined if the secret is unknown, for example when the payload names no known webhook. */
  secret: string | undefined;
  /** One value, or a list of all that were sent; undefined or empty if none was. */
  header: string | readonly string[] | undefined;
  /** The raw bytes as received, before any parsing. */
  body: Uint8Array;
  /** Other secrets that might have been used by mistake, each with a label for the reason. */
  otherSecrets?: () => readonly { label: string; secret: string }[];
  /** A timestamp that may have been signed along with the body. */
  timestamp?: string | undefined;
}

/**
 * Verifies a received signature (section 6.3) and explains an invalid one. Never throws; for a well-formed header the time does
 * not depend on how much of it is right.
 */
export function checkSignature({
  secret,
  header,
  body,
  otherSecrets,
  timestamp,
}: SignatureInput): SignatureVerdict {
  if (header === undefined || (Array.isArray(header) && header.length === 0))
    return toVerdict("missing", "no-header", `the ${SIGNATURE_HEADER} header is missing`);
  if (typeof header !== "string" && header.length > 1)
    return toVerdict(
      "invalid",
      "repeated-header",
      `the ${SIGNATURE_HEADER} header was sent ${header.length} times`,
    );
  const value = typeof header === "string" ? header : header[0]!;
  if (value.trim() === "")
    return toVerdict("missing", "empty-header", `the ${SIGNATURE_HEADER} header is empty`);
  if (secret === undefined)
    return toVerdict(
      "invalid",
      "no-secret",
      "no secret is known for this request, so its signature cannot be checked",
    );
  if (areDigestsEqual(value, sign(secret, body)))
    return toVerdict("valid", "match", "the signature matches the body as received");
  const explanation = explainMismatch({ secret, value, body, timestamp, otherSecrets });
  return { verdict: "invalid", ...explanation };
}

function toVerdict(verdict: Verdict, code: VerdictCode, reason: string): SignatureVerdict {
  return { verdict, code, reason, fix: FIXES[code] };
}

/** Compares digests, since the time of a direct comparison would disclose the lengths. */
function areDigestsEqual(left: string, right: string): boolean {
  return areBytesEqual(hmac("sha256", "compare", left), hmac("sha256", "compare", right));
}

interface SignatureExplanation extends SignatureVerdict {
  /** The correct signature for these bytes and this secret. */
  expected: string;
  /** The signature that the caller gave. */
  mine: string;
  body_bytes: number;
}

/** Explains how a receiver probably made its own signature of a body, and what to change (section 6.3). Never throws. */
export function explainSignature(signed: {
  secret: string;
  /** The received bytes. */
  body: Uint8Array;
  mine: string;
  /** Signed with the body in the schemes of other services. */
  timestamp?: string | undefined;
}): SignatureExplanation {
  const { secret, body, mine, timestamp } = signed;
  const signature = checkSignature({ secret, header: mine, body, timestamp });
  return { ...signature, expected: sign(secret, body), mine, body_bytes: body.length };
}
