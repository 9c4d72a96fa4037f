import { type Check, isAccepted } from "../check.ts";
import { expectRefused } from "../expectations.ts";

const HEX = "sha256=".length;

/** Some decoders of hex stop without a word at the first character that is none. */
const LENIENT_DECODER =
  "Letters that are no hex digits are ignored behind the right digest: its hex decoder stops there without a word (Node's Buffer.from does). Harmless, since the digest must be right; compare text with text to be exact.";

export const signatureSurrounded: Check = {
  id: "signature-surrounded",
  title: "Refuses more than the signature",
  severity: "major",
  why: "A comparison that looks for the digest somewhere in the header, or only at its start, isn't the comparison that was meant; the next change to it may open it altogether.",
  advice:
    "Compare the whole header value with the whole expected one: no startsWith, no includes, no cutting to length, no list of values.",
  mends: ["exception"],
  async run(session) {
    const finding = await expectRefused(
      session,
      [
        { label: "two more hex digits behind the right digest", write: (right: string) => `${right}00` },
        { label: "the right digest twice", write: (right: string) => right + right.slice(HEX) },
        { label: "two more hex digits before the right digest", write: before },
        { label: "a wrong signature, a comma and the right one", write: listed },
      ].map(({ label, write }) => {
        const delivery = session.makeDelivery();
        return { label, delivery: { ...delivery, signature: write(delivery.signature!) } };
      }),
    );
    if (finding.outcome !== "passed") return finding;
    const delivery = session.makeDelivery();
    const lenient = await session.deliver({ ...delivery, signature: `${delivery.signature}zz` });
    return isAccepted(lenient) ? { ...finding, note: LENIENT_DECODER } : finding;
  },
};

function before(right: string): string {
  return `sha256=00${right.slice(HEX)}`;
}

function listed(right: string): string {
  return `sha256=${"0".repeat(64)},${right}`;
}
