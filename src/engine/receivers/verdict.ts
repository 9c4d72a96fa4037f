import { createHmac, timingSafeEqual } from "node:crypto";
import { SIGNATURE_HEADER, sign } from "../webhooks/sign.ts";
import { explainMismatch, MENDS, type VerdictCode } from "./signature-mismatch.ts";

export type Verdict = "valid" | "invalid" | "missing";

export interface Judgement {
  verdict: Verdict;
  code: VerdictCode;
  /** One sentence for a person; never contains a secret. */
  reason: string;
  /** What to change, for whoever made the signature. */
  mend: string;
}

export interface SignatureToJudge {
  /** Undefined when nobody knows the secret, for instance when the payload names no known webhook. */
  secret: string | undefined;
  /** The header as Node hands it over; an array when it was sent more than once. */
  header: string | readonly string[] | undefined;
  /** The raw bytes as received, before any parsing. */
  body: Uint8Array;
  /** Other secrets that might have been used by mistake, with a label to name them by in the reason. */
  candidates?: () => readonly { label: string; secret: string }[];
  /** A timestamp that may have been signed along with the body. */
  timestamp?: string | undefined;
}

/**
 * Judges a received signature (6.3) and, when it is not valid, says what most likely went wrong.
 * Never throws; the time taken for a header of the right form does not depend on how much of it is right.
 */
export function verdict({ secret, header, body, candidates, timestamp }: SignatureToJudge): Judgement {
  if (header === undefined || (Array.isArray(header) && header.length === 0)) {
    return judged("missing", "no-header", `the ${SIGNATURE_HEADER} header is missing`);
  }
  if (typeof header !== "string" && header.length > 1) {
    return judged(
      "invalid",
      "repeated-header",
      `the ${SIGNATURE_HEADER} header was sent ${header.length} times`,
    );
  }
  const value = typeof header === "string" ? header : header[0]!;
  if (value.trim() === "") {
    return judged("missing", "empty-header", `the ${SIGNATURE_HEADER} header is empty`);
  }
  if (secret === undefined) {
    return judged(
      "invalid",
      "no-secret",
      "no secret is known for this request, so its signature cannot be checked",
    );
  }
  if (equalByDigest(value, sign(secret, body))) {
    return judged("valid", "match", "the signature matches the body as received");
  }
  const found = explainMismatch({ secret, value, body, timestamp, candidates });
  return { verdict: "invalid", ...found };
}

function judged(verdict: Verdict, code: VerdictCode, reason: string): Judgement {
  return { verdict, code, reason, mend: MENDS[code] };
}

/** Compares digests of both sides: timingSafeEqual throws on unequal lengths, and lengths would leak too. */
function equalByDigest(left: string, right: string): boolean {
  const digest = (text: string) => createHmac("sha256", "compare").update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
