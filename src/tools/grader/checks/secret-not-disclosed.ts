import { answerText } from "../answer-text.ts";
import { type Check, failed, notObservable, passed, statusOf } from "../check.ts";
import { secretParts, secretSpellings } from "../redact-secret.ts";

const TROUBLES = ["exception", "unauthorized", "bad-request", "method", "not-found", "invalid"] as const;

export const secretNotDisclosed: Check = {
  id: "secret-not-disclosed",
  title: "Never puts the secret into an answer",
  severity: "critical",
  why: "Whoever reads it can sign any event; answers end up in logs on both sides and in front of anyone who sends a request.",
  advice:
    "Answer refusals with a fixed text; never print configuration, environment or debugging pages. Then change the secret.",
  mends: TROUBLES,
  sendsNothing: true,
  run(session) {
    const { secret } = session.options;
    const spellings = secretSpellings(secret);
    if (spellings.length === 0)
      return notObservable("the secret is too short to be looked for in the answers");
    const answered = session.exchanges.filter(({ result }) => result.kind === "answer");
    for (const { what, texts } of [
      { what: "the secret", texts: spellings },
      { what: "a good part of the secret", texts: secretParts(secret) },
    ]) {
      const leak = answered.find((exchange) => texts.some((text) => answerText(exchange).includes(text)));
      if (leak) return failed(`an answer with status ${statusOf(leak)} holds ${what}`, leak);
    }
    if (answered.length === 0) return notObservable("nothing was answered");
    return passed(`not found in any of ${answered.length} answers`, answered[0]);
  },
};
