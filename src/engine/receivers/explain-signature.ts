import { sign } from "../webhooks/sign.ts";
import { type Judgement, verdict } from "./verdict.ts";

export interface SignatureExplanation extends Judgement {
  /** The signature that is right for these bytes and this secret. */
  expected: string;
  mine: string;
  body_bytes: number;
}

/** What somebody's own signature of a body was probably made of, and what to change (6.3). Never throws. */
export function explainSignature(given: {
  secret: string;
  /** The bytes as they travelled. */
  body: Uint8Array;
  mine: string;
  /** Signed along with the body, where the scheme of another service was followed. */
  timestamp?: string | undefined;
}): SignatureExplanation {
  const { secret, body, mine, timestamp } = given;
  const judgement = verdict({ secret, header: mine, body, timestamp });
  return { ...judgement, expected: sign(secret, body), mine, body_bytes: body.length };
}
