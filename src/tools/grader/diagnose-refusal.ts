import { randomBytes } from "node:crypto";
import { fromHex, toBase64, toHex } from "../../engine/bytes.ts";
import { type DigestCandidate, listDigestCandidates } from "../../engine/receivers/digest-candidates.ts";
import { FIXES, type VerdictCode } from "../../engine/receivers/signature-mismatch.ts";
import { sign } from "../../engine/webhooks/sign.ts";
import type { TestDelivery } from "./delivery.ts";
import { getStatus, isAccepted, isDeferred, isRefused } from "./finding.ts";
import type { Session } from "./session.ts";

/** A mistake in signing, and the signature that it makes. */
interface Guess {
  cause: string;
  code: VerdictCode;
  signature: string;
}

/** Refusals that have another cause than the signature. */
const OTHER_CAUSES = new Set([404, 405, 408, 409, 410, 411, 413, 415, 429]);

const MAX_GUESSES = 200;

/**
 * A receiver that refuses the right signature may accept a wrong one, which shows how it computes its own. Tries the
 * known mistakes, each with a delivery of its own; null if none is accepted.
 */
export async function diagnoseRefusal(session: Session): Promise<{ cause: string; fix: string } | null> {
  const refused = session.attempts.at(-1);
  if (!refused || !isRefused(refused) || OTHER_CAUSES.has(getStatus(refused))) return null;
  const wronglySigned = session.makeDelivery();
  wronglySigned.signature = sign(randomBytes(16).toString("hex"), wronglySigned.body);
  // If the receiver accepts anything, or has recovered meanwhile, every guess would seem right.
  if (isAccepted(await session.deliver(wronglySigned))) return null;
  if (isAccepted(await session.deliver(session.makeDelivery()))) return null;
  const size = session.calculateConcurrency();
  for (let start = 0; start < MAX_GUESSES; start += size) {
    const guesses = Array.from({ length: size }, (_, offset) => makeGuess(session, start + offset));
    const usableGuesses = guesses.filter((guess) => guess !== undefined);
    const answers = await Promise.all(usableGuesses.map(({ delivery }) => session.deliver(delivery)));
    const acceptedIndex = answers.findIndex(isAccepted);
    if (acceptedIndex >= 0) {
      const { cause, code } = usableGuesses[acceptedIndex]!;
      return { cause, fix: FIXES[code] };
    }
    if (usableGuesses.length < size || answers.some(isDeferred)) return null;
  }
  return null;
}

/** Each guess is made for the bytes of its own delivery. */
function makeGuess(session: Session, index: number): (Guess & { delivery: TestDelivery }) | undefined {
  const delivery = session.makeDelivery();
  const guess = findGuess(index, session.options.secret, delivery);
  return guess && { ...guess, delivery: { ...delivery, signature: guess.signature } };
}

function findGuess(index: number, secret: string, delivery: TestDelivery): Guess | undefined {
  const forms = listOtherForms(delivery.signature!);
  if (index < forms.length) return forms[index];
  let remaining = index - forms.length;
  for (const candidate of listDigestCandidates({ secret, body: delivery.body })) {
    if (candidate.mistake === "none") continue;
    // Two mistakes at once come last, and would take a thousand requests.
    if (candidate.mistake === "key-and-bytes") return undefined;
    if (remaining === 0) return toGuess(candidate);
    remaining -= 1;
  }
  return undefined;
}

const CODES = {
  hash: "wrong-algorithm",
  swapped: "swapped",
  key: "wrong-secret",
  bytes: "body-changed",
} as const;

function toGuess({ mistake, key, bytes, digest }: DigestCandidate): Guess {
  const code = CODES[mistake as keyof typeof CODES];
  const cause =
    mistake === "hash"
      ? `it takes a plain hash of the body with ${key}`
      : `it takes the HMAC with ${key} over ${bytes}`;
  return { cause, code, signature: `sha256=${toHex(digest)}` };
}

function listOtherForms(signature: string): Guess[] {
  const hex = signature.slice("sha256=".length);
  const base64 = toBase64(fromHex(hex));
  return [
    { cause: "it expects the digest without sha256= before it", code: "no-prefix", signature: hex },
    { cause: "it expects the digest in base64", code: "wrong-encoding", signature: `sha256=${base64}` },
    {
      cause: "it expects the digest in base64, without sha256= before it",
      code: "wrong-encoding",
      signature: base64,
    },
    {
      cause: "it expects the digest in upper case",
      code: "upper-case",
      signature: `sha256=${hex.toUpperCase()}`,
    },
    { cause: "it expects another prefix than sha256=", code: "wrong-prefix", signature: `v1=${hex}` },
  ];
}
