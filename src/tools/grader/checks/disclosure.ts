import { SIGNATURE_HEADER, sign } from "../../../engine/webhooks/sign.ts";
import { listSecretParts, listTextParts, spellSecret } from "../../redact.ts";
import type { Check } from "../check.ts";
import { failed, getStatus, notObservable, passed } from "../finding.ts";
import type { Attempt, Session } from "../session.ts";

// Answers that give away the secret or a signature.

export const secretNotDisclosed: Check = {
  id: "secret-not-disclosed",
  title: "Never puts the secret into an answer",
  severity: "critical",
  why: "A reader of the secret can sign any event; answers end up in logs on both sides and in front of anyone who sends a request.",
  advice:
    "Answer refusals with a fixed text; never print configuration, environment or debugging pages. Then change the secret.",
  adviceAppliesTo: ["exception", "unauthorized", "bad-request", "method", "not-found", "invalid"],
  sendsNothing: true,
  run(session) {
    const { secret } = session.options;
    const spellings = spellSecret(secret);
    if (spellings.length === 0) return notObservable("the secret is too short to search the answers for");
    const answeredAttempts = session.attempts.filter(({ result }) => result.error === undefined);
    for (const { what, texts } of [
      { what: "the secret", texts: spellings },
      { what: "a good part of the secret", texts: listSecretParts(secret) },
    ]) {
      const leak = answeredAttempts.find((attempt) => texts.some((text) => toText(attempt).includes(text)));
      if (leak) return failed(`an answer with status ${getStatus(leak)} contains ${what}`, leak);
    }
    if (answeredAttempts.length === 0) return notObservable("nothing was answered");
    return passed(`not found in any of ${answeredAttempts.length} answers`, answeredAttempts[0]);
  },
};

/** An answer that contains a part of the digest of this length discloses it. */
const CERTAIN_LENGTH = 12;
/** Two answers disclose a shorter part if each contains it from the same place of its own digest. */
const SUSPICIOUS_LENGTH = 6;

export const signatureNotDisclosed: Check = {
  id: "signature-not-disclosed",
  title: "Never discloses the signature that it expected",
  severity: "critical",
  why: "A refusal that contains the expected signature signs any body for an attacker; a part of it saves the attacker guessing that part.",
  advice: "Say only that the signature is wrong; write the expected value at most to your own log.",
  adviceAppliesTo: [
    "exception",
    "unauthorized",
    "bad-request",
    "invalid",
    "not-found",
    "method",
    "gone",
    "conflict",
  ],
  sendsNothing: true,
  run(session) {
    const forgedAttempts = session.attempts.filter(
      ({ delivery, genuine, result }) => delivery && !genuine && result.error === undefined,
    );
    const leak = findLeak(session, forgedAttempts);
    if (leak)
      return failed(
        `an answer with status ${getStatus(leak.attempt)} contains ${leak.what} that would have been right`,
        leak.attempt,
      );
    if (forgedAttempts.length === 0) return notObservable("no forged delivery was answered");
    return passed(
      `not found in any of ${forgedAttempts.length} answers to forged deliveries`,
      forgedAttempts[0],
    );
  },
};

function findLeak(session: Session, forgedAttempts: Attempt[]): { attempt: Attempt; what: string } | null {
  const suspicions = new Map<string, Attempt>();
  for (const attempt of forgedAttempts) {
    const text = toText(attempt);
    const lower = text.toLowerCase();
    for (const { encoding, spelling } of spellSignature(session.options.secret, attempt)) {
      const searched = encoding === "hex" ? lower : text;
      // Some forgeries contain the right digest in a wrong form: repeating what was sent discloses nothing.
      const sent = findSentSignature(attempt, encoding);
      if (searched.includes(spelling) && !sent.includes(spelling)) return { attempt, what: "the signature" };
      for (const { at, part } of listTextParts(spelling, SUSPICIOUS_LENGTH)) {
        if (!searched.includes(part) || sent.includes(part)) continue;
        const longer = spelling.slice(at, at + CERTAIN_LENGTH);
        const isCertain = longer.length === CERTAIN_LENGTH && searched.includes(longer);
        const key = `${encoding} ${at}`;
        const earlier = suspicions.get(key);
        const recurs = earlier !== undefined && earlier.delivery!.id !== attempt.delivery!.id;
        if (isCertain || recurs) return { attempt, what: "a part of the signature" };
        suspicions.set(key, attempt);
      }
    }
  }
  return null;
}

type Encoding = "hex" | "base64" | "base64url";

function spellSignature(secret: string, { request }: Attempt): { encoding: Encoding; spelling: string }[] {
  const digest = Buffer.from(sign(secret, request.body).slice("sha256=".length), "hex");
  return (["hex", "base64", "base64url"] as const).map((encoding) => ({
    encoding,
    spelling: digest.toString(encoding),
  }));
}

function findSentSignature({ request }: Attempt, encoding: Encoding): string {
  const name = SIGNATURE_HEADER.toLowerCase();
  const sent = request.headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? "";
  return encoding === "hex" ? sent.toLowerCase() : sent;
}

/** An answer's headers and body. */
function toText({ result }: Attempt): string {
  const headers = Object.entries(result.headers).map(([name, value]) => `${name}: ${String(value)}`);
  return `${headers.join("\n")}\n\n${result.body.toString("utf8")}`;
}
