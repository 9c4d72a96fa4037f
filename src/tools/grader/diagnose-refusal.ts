import { randomBytes } from "node:crypto";
import { toHex } from "../../engine/bytes.ts";
import { type DigestOrigin, digestOrigins } from "../../engine/receivers/digest-origins.ts";
import { FIXES, type VerdictCode } from "../../engine/receivers/signature-mismatch.ts";
import { sign } from "../../engine/webhooks/sign.ts";
import { isAccepted, isPutOff, isRefused, statusOf } from "./check.ts";
import type { Delivery } from "./delivery.ts";
import type { Session } from "./session.ts";

export interface Diagnosis {
  /** What the receiver seems to sign with, as the rest of a sentence. */
  cause: string;
  mend: string;
}

interface Attempt {
  cause: string;
  mends: VerdictCode[];
  signature: string;
}

/** Refusals that have another cause than the signature. */
const ELSEWHERE = new Set([404, 405, 408, 409, 410, 411, 413, 415, 429]);

/** Two mistakes at once would be a thousand requests. */
const MAX_ATTEMPTS = 120;

/**
 * A receiver that refuses the right signature may accept a wrong one: the signature that it expects tells what
 * its own digest is made of. Tries the known mistakes, one at a time; null when none is accepted.
 */
export async function diagnoseRefusal(session: Session): Promise<Diagnosis | null> {
  const refused = session.exchanges.at(-1);
  if (!refused || !isRefused(refused) || ELSEWHERE.has(statusOf(refused))) return null;
  const stranger = session.makeDelivery();
  stranger.signature = sign(randomBytes(16).toString("hex"), stranger.body);
  // One that accepts anything, or that has come round meanwhile, would make any guess look right.
  if (isAccepted(await session.deliver(stranger))) return null;
  if (isAccepted(await session.deliver(session.makeDelivery()))) return null;
  for (let index = 0; index < MAX_ATTEMPTS; index += 1) {
    const delivery = session.makeDelivery();
    const attempt = attemptAt(index, session.options.secret, delivery);
    if (attempt === undefined) return null;
    const answer = await session.deliver({ ...delivery, signature: attempt.signature });
    if (isPutOff(answer)) return null;
    if (!isAccepted(answer)) continue;
    const { cause, mends } = attempt;
    return { cause, mend: mends.map((code) => FIXES[code]).join(" ") };
  }
  return null;
}

/** Each attempt travels in a delivery of its own, and is made anew for its bytes. */
function attemptAt(index: number, secret: string, delivery: Delivery): Attempt | undefined {
  const forms = otherForms(delivery.signature!);
  if (index < forms.length) return forms[index];
  let left = index - forms.length;
  for (const origin of digestOrigins({ secret, body: delivery.body })) {
    if (origin.mistake === "none") continue;
    if (origin.mistake === "key-and-bytes") return undefined;
    if (left === 0) return fromOrigin(origin);
    left -= 1;
  }
  return undefined;
}

function fromOrigin({ mistake, key, bytes, digest }: DigestOrigin): Attempt {
  const code = mistake === "hash" ? "wrong-algorithm" : mistake === "key" ? "wrong-secret" : "body-changed";
  const cause =
    mistake === "hash"
      ? `it takes a plain hash of the body with ${key}`
      : `it takes the HMAC with ${key} over ${bytes}`;
  return { cause, mends: [code], signature: `sha256=${toHex(digest)}` };
}

function otherForms(right: string): Attempt[] {
  const hex = right.slice("sha256=".length);
  const base64 = Buffer.from(hex, "hex").toString("base64");
  return [
    { cause: "it expects the digest without sha256= before it", mends: ["no-prefix"], signature: hex },
    {
      cause: "it expects the digest in base64",
      mends: ["wrong-encoding"],
      signature: `sha256=${base64}`,
    },
    {
      cause: "it expects the digest in base64, without sha256= before it",
      mends: ["wrong-encoding"],
      signature: base64,
    },
    {
      cause: "it expects the digest in upper case",
      mends: ["upper-case"],
      signature: `sha256=${hex.toUpperCase()}`,
    },
    {
      cause: "it expects another prefix than sha256=",
      mends: ["wrong-prefix"],
      signature: `v1=${hex}`,
    },
  ];
}
