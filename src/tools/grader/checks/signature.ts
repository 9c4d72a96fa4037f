import { createHmac } from "node:crypto";
import { type Case, type Check, defineRefuseCheck, judgeDeferred } from "../check.ts";
import { describeResult } from "../failure-kind.ts";
import { failed, isAccepted, isDeferred, isRefused, passed } from "../finding.ts";

const DIGEST_START = "sha256=".length;

type CaseInput = Parameters<NonNullable<Case["change"]>>[0];

/** A delivery of the service with another signature; null leaves the header out. */
export function createSignedCase(
  label: string,
  write: (signature: string, given: CaseInput) => string | null,
): Case {
  return { label, change: (given) => ({ signature: write(given.signature, given) }) };
}

/** The same for a case whose problems another case finds too. */
const createCoveredCase: typeof createSignedCase = (label, write) => ({
  ...createSignedCase(label, write),
  skipForSlow: true,
});

/** A check of signatures that are wrong in one way; the fix is the same if the receiver throws an exception. */
function defineSignatureCheck(
  check: Omit<Parameters<typeof defineRefuseCheck>[0], "adviceAppliesTo">,
): Check {
  return defineRefuseCheck({ ...check, adviceAppliesTo: ["exception"] });
}

export const signatureMissing = defineSignatureCheck({
  id: "signature-missing",
  title: "Refuses a delivery without a signature",
  severity: "critical",
  why: "Anyone who learns the URL can post events if the signature is optional.",
  advice: "Refuse with 401 when X-Service-Signature is absent, before anything else is read.",
  cases: [createSignedCase("without the header", () => null)],
});

export const signatureEmpty = defineSignatureCheck({
  id: "signature-empty",
  title: "Refuses an empty signature",
  severity: "critical",
  why: "An empty value is falsy in many languages and passes checks of the form “if there is a signature, verify it”.",
  advice:
    "Treat an empty header, and a bare `sha256=`, as a wrong signature; never as “no signature to check”.",
  cases: [
    createSignedCase("an empty header", () => ""),
    createSignedCase("the prefix alone", () => "sha256="),
  ],
});

export const signatureTruncated = defineSignatureCheck({
  id: "signature-truncated",
  title: "Refuses a truncated signature",
  severity: "critical",
  why: "Comparing only as many characters as were sent lets an attacker guess one character at a time; constant-time comparisons often throw on unequal lengths and turn into a 500.",
  advice:
    "Compare whole values, and check that lengths are equal before a constant-time comparison that requires it.",
  cases: [
    createCoveredCase("the first eight digits of the digest", (signature) =>
      signature.slice(0, DIGEST_START + 8),
    ),
    createCoveredCase("the first half of the digest", (signature) => signature.slice(0, DIGEST_START + 32)),
    createSignedCase("the second half of the digest alone", (signature) => signature.slice(-32)),
    createSignedCase("the digest without its last character", (signature) => signature.slice(0, -1)),
  ],
});

export const signatureNearlyRight = defineSignatureCheck({
  id: "signature-nearly-right",
  title: "Refuses a digest that differs in one digit",
  severity: "critical",
  why: "If only a part of the digest is compared, an attacker has to guess only that part.",
  advice: "Compare all 64 digits, or all 32 bytes.",
  cases: [
    { what: "the first digit", at: DIGEST_START },
    { what: "a digit in the middle", at: DIGEST_START + 31 },
    { what: "the last digit", at: DIGEST_START + 63 },
  ].map(({ what, at }) =>
    createSignedCase(`${what} changed`, (signature) => {
      return signature.slice(0, at) + changeDigit(signature[at]!) + signature.slice(at + 1);
    }),
  ),
});

export const signaturePrefix = defineSignatureCheck({
  id: "signature-prefix",
  title: "Refuses a digest that only begins right",
  severity: "critical",
  why: "If only the first digits are compared, an attacker guesses these few and signs any body.",
  advice: "Compare all 64 digits, or all 32 bytes; never cut a digest to a length before comparing.",
  cases: [
    ...[8, 16, 32].map((digits) => ({ ...createPartlyRightCase(digits), skipForSlow: true })),
    createPartlyRightCase(48),
  ],
});

function createPartlyRightCase(rightDigits: number): Case {
  const end = DIGEST_START + rightDigits;
  return createSignedCase(
    `the first ${rightDigits} digits right and the others wrong`,
    (signature) => signature.slice(0, end) + signature.slice(end).replaceAll(/\w/g, changeDigit),
  );
}

function changeDigit(digit: string): string {
  return (Number.parseInt(digit, 16) ^ 1).toString(16);
}

export const signatureTrailingText = defineSignatureCheck({
  id: "signature-trailing-text",
  title: "Refuses text after the right digest",
  severity: "minor",
  why: "A hex decoder that stops at the first other character (Node's Buffer.from does) accepts values that the service never sends; the next change to such a comparison may break it completely.",
  advice: "Compare text with text, or check that the digest has 64 hex digits before it is decoded.",
  cases: ["zz", " and more", ";v=1"].map((text) => ({
    ...createSignedCase(`“${text}” after the right digest`, (signature) => signature + text),
    skipForSlow: text === "zz",
  })),
});

export const signatureWrongPrefix = defineSignatureCheck({
  id: "signature-wrong-prefix",
  title: "Refuses another prefix than sha256=",
  severity: "major",
  why: "The prefix names the algorithm; if it is ignored, or the sender may choose by it, a weaker or different scheme is accepted.",
  advice:
    "Require `sha256=` and then the digest; don't split at `=` and use the rest, and don't look up the algorithm by what was sent.",
  cases: [
    createSignedCase("sha1= before the right digest", (signature) => `sha1=${signature.slice(DIGEST_START)}`),
    createSignedCase("the right digest without a prefix", (signature) => signature.slice(DIGEST_START)),
    ...["sha1", "md5", "sha512"].map((algorithm) => ({
      ...createSignedCase(`an HMAC with ${algorithm}`, (_, { session, delivery }) => {
        const hmac = createHmac(algorithm, session.options.secret).update(delivery.body);
        return `${algorithm}=${hmac.digest("hex")}`;
      }),
      skipForSlow: algorithm === "md5",
    })),
  ],
});

export const signatureWrongEncoding = defineSignatureCheck({
  id: "signature-wrong-encoding",
  title: "Refuses a digest in base64",
  severity: "major",
  why: "The digest is hex; a receiver that tries several encodings accepts more values than the service ever sends.",
  advice: "Accept exactly one spelling: hex.",
  cases: [
    createSignedCase(
      "the right digest in base64",
      (signature) => `sha256=${Buffer.from(signature.slice(DIGEST_START), "hex").toString("base64")}`,
    ),
  ],
});

export const signatureSurrounded = defineSignatureCheck({
  id: "signature-surrounded",
  title: "Refuses more than the signature",
  severity: "major",
  why: "A comparison that looks for the digest somewhere in the header, or only at its start, is weaker than intended; the next change to it may break it completely.",
  advice:
    "Compare the whole header value with the whole expected one: no startsWith, no includes, no cutting to length, no list of values.",
  cases: [
    createSignedCase("two more hex digits after the right digest", (signature) => `${signature}00`),
    createCoveredCase("the right digest twice", (signature) => signature + signature.slice(DIGEST_START)),
    createSignedCase(
      "two more hex digits before the right digest",
      (signature) => `sha256=00${signature.slice(DIGEST_START)}`,
    ),
    createSignedCase(
      "a wrong signature, a comma and the right one",
      (signature) => `sha256=${"0".repeat(64)},${signature}`,
    ),
  ],
});

export const signatureUpperCase: Check = {
  id: "signature-upper-case",
  title: "Answers a digest in upper case without an error",
  severity: "minor",
  why: "The service sends lower-case hex only. A receiver that decodes hex accepts both, which is harmless; one that throws is retried for hours.",
  advice: "Refuse it with 401, or accept it where hex is decoded before the comparison.",
  adviceAppliesTo: ["exception"],
  async run(session) {
    const delivery = session.makeDelivery();
    const signature = `sha256=${delivery.signature!.slice(DIGEST_START).toUpperCase()}`;
    const attempt = await session.deliver({ ...delivery, signature });
    if (isRefused(attempt)) return passed(`the receiver ${describeResult(attempt)}`, attempt);
    if (isDeferred(attempt)) return judgeDeferred(session, attempt, "a digest in upper case");
    if (!isAccepted(attempt)) return failed(`the receiver ${describeResult(attempt)}`, attempt);
    const note = "It accepts a digest in upper case too: harmless, as long as the digest is right.";
    return { ...passed(`the receiver ${describeResult(attempt)}`, attempt), note };
  },
};
