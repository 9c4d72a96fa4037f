import { forgedCheck } from "../forged-check.ts";

export const signatureTruncated = forgedCheck({
  id: "signature-truncated",
  title: "Refuses a truncated signature",
  severity: "critical",
  why: "Comparing only as many characters as were sent lets an attacker guess one character at a time; constant-time comparisons often throw on unequal lengths and turn into a 500.",
  advice:
    "Compare whole values, and check that lengths are equal before a constant-time comparison that requires it.",
  forge: (right) => [
    { label: "the first half of the digest", signature: right.slice(0, 7 + 32) },
    { label: "the second half of the digest alone", signature: right.slice(-32) },
    { label: "the digest less its last character", signature: right.slice(0, -1) },
  ],
});
