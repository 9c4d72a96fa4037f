import { forgedCheck } from "../forged-check.ts";

export const signatureNearlyRight = forgedCheck({
  id: "signature-nearly-right",
  title: "Refuses a digest that differs in one digit",
  severity: "critical",
  why: "Whoever compares only a part of the digest leaves an attacker only that part to guess.",
  advice: "Compare all 64 digits, or all 32 bytes.",
  forge: (right) =>
    [
      { label: "the first digit", at: 7 },
      { label: "a digit in the middle", at: 7 + 31 },
      { label: "the last digit", at: 7 + 63 },
    ].map(({ label, at }) => ({ label: `${label} changed`, signature: withOtherDigit(right, at) })),
});

function withOtherDigit(right: string, at: number): string {
  const other = (Number.parseInt(right[at]!, 16) ^ 1).toString(16);
  return right.slice(0, at) + other + right.slice(at + 1);
}
