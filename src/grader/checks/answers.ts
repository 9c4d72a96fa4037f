import { createHmac } from "node:crypto";
import { SIGNATURE_HEADER } from "../../webhooks/sign.ts";
import { type Check, failed, notObservable, passed, statusOf } from "../check.ts";
import type { Exchange, Session } from "../session.ts";

const gone: Check = {
  id: "gone-stops-delivery",
  title: "Never answers 410 by accident",
  severity: "critical",
  why: "410 tells the service to stop: it disables the webhook and cancels its pending retries, so nothing more arrives until someone switches it on again.",
  advice:
    "Answer 410 only when the endpoint is retired for good; refuse with 400 or 401, and answer 2xx to what you ignore.",
  sendsNothing: true,
  run(session) {
    const answered = answers(session);
    const disabling = answered.find((exchange) => exchange.genuine && statusOf(exchange) === 410);
    if (disabling) {
      return failed(
        "answered 410 to a genuine delivery: the webhook would now be disabled; nothing more was sent",
        disabling,
      );
    }
    const refusal = answered.find((exchange) => exchange.delivery && statusOf(exchange) === 410);
    if (refusal) {
      return failed(
        "answered 410 to a forged delivery: after a change of secrets, genuine ones would get it too",
        refusal,
      );
    }
    if (answered.length === 0) return notObservable("nothing was answered");
    return passed(`none of ${answered.length} answers was 410`, answered[0]);
  },
};

const secretKept: Check = {
  id: "secret-not-disclosed",
  title: "Never puts the secret into an answer",
  severity: "critical",
  why: "Whoever reads it can sign any event; answers end up in logs on both sides and in front of anyone who sends a request.",
  advice:
    "Answer refusals with a fixed text; never print configuration, environment or debugging pages. Then change the secret.",
  sendsNothing: true,
  run(session) {
    const spellings = secretSpellings(session.options.secret);
    if (spellings.length === 0)
      return notObservable("the secret is too short to be looked for in the answers");
    const answered = answers(session);
    const leak = answered.find((exchange) =>
      spellings.some((spelling) => answerText(exchange).includes(spelling)),
    );
    if (leak) return failed(`an answer with status ${statusOf(leak)} holds the secret`, leak);
    if (answered.length === 0) return notObservable("nothing was answered");
    return passed(`not found in any of ${answered.length} answers`, answered[0]);
  },
};

const signatureKept: Check = {
  id: "signature-not-disclosed",
  title: "Never tells which signature it expected",
  severity: "critical",
  why: "A refusal that names the expected signature signs any body an attacker cares to send.",
  advice: "Say only that the signature is wrong; write the expected value to a log of your own at most.",
  sendsNothing: true,
  run(session) {
    const refused = answers(session).filter((exchange) => exchange.delivery && !exchange.genuine);
    const leak = refused.find((exchange) => disclosesSignature(session.options.secret, exchange));
    if (leak)
      return failed(
        `an answer with status ${statusOf(leak)} holds the signature that would have been right`,
        leak,
      );
    if (refused.length === 0) return notObservable("no forged delivery was answered");
    return passed(`not found in any of ${refused.length} answers to forged deliveries`, refused[0]);
  },
};

function answers(session: Session): Exchange[] {
  return session.exchanges.filter((exchange) => exchange.result.kind === "answer");
}

function answerText({ result }: Exchange): string {
  if (result.kind !== "answer") return "";
  const headers = Object.entries(result.headers).map(([name, value]) => `${name}: ${String(value)}`);
  return `${headers.join("\n")}\n\n${result.body.toString("utf8")}`;
}

/** The secret as it might be printed. A short one would be found by chance. */
export function secretSpellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const spellings = [secret, secret.replace(/^whsec_/, ""), bytes.toString("hex"), bytes.toString("base64")];
  return [...new Set([...spellings, encodeURIComponent(secret)])].filter((spelling) => spelling.length >= 8);
}

function disclosesSignature(secret: string, exchange: Exchange): boolean {
  const hmac = createHmac("sha256", secret).update(exchange.request.body);
  const digest = hmac.digest();
  const sent = exchange.request.headers.find(
    ([name]) => name.toLowerCase() === SIGNATURE_HEADER.toLowerCase(),
  )?.[1];
  const text = answerText(exchange);
  return (["hex", "base64", "base64url"] as const).some((encoding) => {
    const expected = digest.toString(encoding);
    // Some forgeries carry the right digest in a wrong form: repeating what was sent discloses nothing.
    const known = sent?.toLowerCase().includes(expected.toLowerCase());
    return !known && text.includes(expected);
  });
}

export const overAllAnswers: Check[] = [gone, secretKept, signatureKept];
