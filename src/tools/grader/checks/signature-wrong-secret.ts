import { createHash, randomBytes } from "node:crypto";
import { sign } from "../../../engine/webhooks/sign.ts";
import { forgedCheck } from "../forged-check.ts";

/** What stands in examples, or in the place of a secret that was not set. */
const GUESSABLE = [
  "secret",
  "changeme",
  "test",
  "password",
  "undefined",
  "null",
  "None",
  "whsec_",
  "whsec_test",
];

export const signatureWrongSecret = forgedCheck({
  id: "signature-wrong-secret",
  title: "Refuses a signature made with another secret",
  severity: "critical",
  why: "Only the secret ties a delivery to the service; a well-formed signature proves nothing, and one made with a secret that anyone can guess proves no more.",
  advice:
    "Compute the HMAC-SHA256 of the raw body with the webhook's own secret and with no other, compare it in constant time, and don't start without a secret.",
  forge(_right, { session, delivery }) {
    const { secret, webhookId } = session.options;
    const guesses = [...GUESSABLE, webhookId].filter((guess) => guess !== secret);
    return [
      { label: "another secret", signature: sign(`whsec_${randomBytes(16).toString("hex")}`, delivery.body) },
      { label: "an empty secret", signature: sign("", delivery.body) },
      {
        label: "a plain SHA-256 of the body",
        signature: `sha256=${createHash("sha256").update(delivery.body).digest("hex")}`,
      },
      ...guesses.map((guess) => ({ label: `the secret “${guess}”`, signature: sign(guess, delivery.body) })),
    ];
  },
});
