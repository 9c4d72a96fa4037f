import { SIGNATURE_HEADER, sign } from "../../../engine/webhooks/sign.ts";
import { answerText, stretches } from "../answer-text.ts";
import { type Check, failed, notObservable, passed, statusOf } from "../check.ts";
import type { Exchange, Session } from "../session.ts";

/** So many characters of the digest in one answer are no accident; fewer are none where they recur in others. */
const CERTAIN = 12;
const SUSPICIOUS = 6;

export const signatureNotDisclosed: Check = {
  id: "signature-not-disclosed",
  title: "Never tells which signature it expected",
  severity: "critical",
  why: "A refusal that names the expected signature signs any body an attacker cares to send; a part of it spares him the guessing of that part.",
  advice: "Say only that the signature is wrong; write the expected value to a log of your own at most.",
  mends: ["exception", "unauthorized", "bad-request", "invalid", "not-found", "method", "gone", "conflict"],
  sendsNothing: true,
  run(session) {
    const refused = session.exchanges.filter(
      ({ delivery, genuine, result }) => delivery && !genuine && result.kind === "answer",
    );
    const leak = findLeak(session, refused);
    if (leak) {
      return failed(
        `an answer with status ${statusOf(leak.exchange)} holds ${leak.what} that would have been right`,
        leak.exchange,
      );
    }
    if (refused.length === 0) return notObservable("no forged delivery was answered");
    return passed(`not found in any of ${refused.length} answers to forged deliveries`, refused[0]);
  },
};

function findLeak(session: Session, refused: Exchange[]): { exchange: Exchange; what: string } | null {
  const suspicions = new Map<string, Exchange>();
  for (const exchange of refused) {
    const text = answerText(exchange);
    const lower = text.toLowerCase();
    for (const { encoding, spelling } of spellingsOf(session.options.secret, exchange)) {
      const searched = encoding === "hex" ? lower : text;
      // Some forgeries carry the right digest in a wrong form: repeating what was sent discloses nothing.
      const sent = sentSignature(exchange, encoding);
      if (searched.includes(spelling) && !sent.includes(spelling)) return { exchange, what: "the signature" };
      for (const { at, part } of stretches(spelling, SUSPICIOUS)) {
        if (!searched.includes(part) || sent.includes(part)) continue;
        const longer = spelling.slice(at, at + CERTAIN);
        const isCertain = longer.length === CERTAIN && searched.includes(longer);
        const key = `${encoding} ${at}`;
        const earlier = suspicions.get(key);
        const what = "a part of the signature";
        if (isCertain) return { exchange, what };
        if (earlier !== undefined && earlier.delivery!.id !== exchange.delivery!.id)
          return { exchange, what };
        suspicions.set(key, exchange);
      }
    }
  }
  return null;
}

type Encoding = "hex" | "base64" | "base64url";

function spellingsOf(secret: string, { request }: Exchange): { encoding: Encoding; spelling: string }[] {
  const hex = sign(secret, request.body).slice("sha256=".length);
  const digest = Buffer.from(hex, "hex");
  return (["hex", "base64", "base64url"] as const).map((encoding) => ({
    encoding,
    spelling: digest.toString(encoding),
  }));
}

function sentSignature({ request }: Exchange, encoding: Encoding): string {
  const name = SIGNATURE_HEADER.toLowerCase();
  const sent = request.headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? "";
  return encoding === "hex" ? sent.toLowerCase() : sent;
}
