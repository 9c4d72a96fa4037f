import { randomBytes } from "node:crypto";
import { sign } from "../../webhooks/sign.ts";
import { type Check, describe, expectRefused, failed, isAccepted } from "../check.ts";
import type { Delivery } from "../delivery.ts";
import type { Session } from "../session.ts";

interface SignatureFlaw {
  id: string;
  title: string;
  severity: Check["severity"];
  why: string;
  advice: string;
  /** The wrong values to send, made from the right one (`sha256=` and 64 hex digits). */
  forge: (
    session: Session,
    right: string,
    delivery: Delivery,
  ) => { label: string; signature: string | null }[];
}

const FLAWS: SignatureFlaw[] = [
  {
    id: "signature-missing",
    title: "Refuses a delivery without a signature",
    severity: "critical",
    why: "Anyone who learns the URL can post events if the signature may be left out.",
    advice: "Refuse with 401 when X-Service-Signature is absent, before anything else is looked at.",
    forge: () => [{ label: "without the header", signature: null }],
  },
  {
    id: "signature-empty",
    title: "Refuses an empty signature",
    severity: "critical",
    why: "An empty value is falsy in many languages and slips past checks of the form “if there is a signature, verify it”.",
    advice:
      "Treat an empty header, and a bare `sha256=`, as a wrong signature; never as “no signature to check”.",
    forge: () => [
      { label: "an empty header", signature: "" },
      { label: "the prefix alone", signature: "sha256=" },
    ],
  },
  {
    id: "signature-truncated",
    title: "Refuses a truncated signature",
    severity: "critical",
    why: "Comparing only as many characters as were sent lets an attacker guess one character at a time; constant-time comparisons often throw on unequal lengths and turn into a 500.",
    advice:
      "Compare whole values, and check that lengths are equal before a constant-time comparison that requires it.",
    forge: (_session, right) => [
      { label: "the first half of the digest", signature: right.slice(0, 7 + 32) },
      { label: "the digest less its last character", signature: right.slice(0, -1) },
    ],
  },
  {
    id: "signature-wrong-prefix",
    title: "Refuses another prefix than sha256=",
    severity: "major",
    why: "The prefix names the algorithm; ignoring it means that a later, weaker or different scheme would be taken for this one.",
    advice:
      "Compare the whole header value, prefix included, with `sha256=` + digest instead of splitting it at `=`.",
    forge: (_session, right) => [
      { label: "sha1= before the right digest", signature: `sha1=${right.slice(7)}` },
      { label: "the right digest without a prefix", signature: right.slice(7) },
    ],
  },
  {
    id: "signature-wrong-encoding",
    title: "Refuses a digest in base64",
    severity: "major",
    why: "The digest is hex; a receiver that tries several encodings accepts more values than the service ever sends.",
    advice: "Accept exactly one spelling: lowercase hex.",
    forge: (_session, right) => [
      {
        label: "the right digest in base64",
        signature: `sha256=${Buffer.from(right.slice(7), "hex").toString("base64")}`,
      },
    ],
  },
  {
    id: "signature-upper-case",
    title: "Refuses a digest in upper case",
    severity: "minor",
    why: "The digest is lowercase hex; comparing without regard to case is a sign of a comparison that isn't over the exact value.",
    advice:
      "Compare the header with the expected value byte for byte, without lower-casing or decoding either.",
    forge: (_session, right) => [
      { label: "the right digest in upper case", signature: `sha256=${right.slice(7).toUpperCase()}` },
    ],
  },
  {
    id: "signature-wrong-secret",
    title: "Refuses a signature made with another secret",
    severity: "critical",
    why: "Only the secret ties a delivery to the service; a well-formed signature proves nothing.",
    advice:
      "Compute the HMAC-SHA256 of the raw body with the webhook's own secret and compare it in constant time.",
    forge: (_session, _right, delivery) => [
      {
        label: "another secret",
        signature: sign(`whsec_${randomBytes(16).toString("hex")}`, delivery.body),
      },
      { label: "an empty secret", signature: sign("", delivery.body) },
    ],
  },
];

function forgedSignatureCheck({ forge, ...about }: SignatureFlaw): Check {
  return {
    ...about,
    run(session) {
      // The number of wrong values is known only from a first forging; each travels under an id of its own.
      const sample = session.makeDelivery();
      const count = forge(session, sample.signature ?? "", sample).length;
      const sendings = Array.from({ length: count }, (_, index) => {
        const delivery = session.makeDelivery();
        const { label, signature } = forge(session, delivery.signature ?? "", delivery)[index]!;
        return { label, delivery: { ...delivery, signature } };
      });
      return expectRefused(session, sendings);
    },
  };
}

const bodyChanged: Check = {
  id: "body-changed",
  title: "Refuses a body in which one byte was changed",
  severity: "critical",
  why: "The signature must protect the content: otherwise a captured delivery can be altered and sent again.",
  advice:
    "Verify the signature over all bytes of every request; never remember a signature, an id or a sender as verified.",
  async run(session) {
    const original = session.makeDelivery();
    const first = await session.deliver(original);
    if (!isAccepted(first)) return failed(`the unchanged original: the receiver ${describe(first)}`, first);
    return expectRefused(session, [
      { label: "after the original was accepted", delivery: changeOneByte(original) },
      { label: "without an original before it", delivery: changeOneByte(session.makeDelivery()) },
    ]);
  },
};

/** One letter of the e-mail address, so that the body stays valid JSON; the signature stays the original's. */
function changeOneByte(delivery: Delivery): Delivery {
  return { ...delivery, body: Buffer.from(delivery.body.toString("utf8").replace("ada@", "eda@")) };
}

export const signature: Check[] = [...FLAWS.map(forgedSignatureCheck), bodyChanged];
