import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import "../../hosts/node/platform.ts";
import { command, group, text } from "../command.ts";
import { runOrThrowUsageError } from "../failure.ts";

const EXAMPLE = ["$0 signature explain --secret whsec_… --body delivery.json --mine sha256=…", ""] as const;

const explain = command({
  command: "explain",
  describe: "Explain why a receiver's own digest differs",
  options: {
    secret: text("The webhook's signing secret (whsec_…)", { demandOption: true }),
    body: text("File with the body's bytes as they were sent; - reads standard input", {
      demandOption: true,
    }),
    mine: text("The signature that the receiver computed, such as sha256=…", { demandOption: true }),
    timestamp: text("A timestamp that may have been signed with the body"),
  },
  examples: [EXAMPLE],
  async run({ secret, body, mine, timestamp }) {
    const { explainSignature } = await import("../../engine/receivers/check-signature.ts");
    const bytes =
      body === "-"
        ? await buffer(process.stdin)
        : runOrThrowUsageError(`cannot read ${body}`, () => readFileSync(body));
    const explanation = explainSignature({ secret, body: bytes, mine, timestamp });
    const isRight = explanation.verdict === "valid";
    const lines = [
      `The signature is ${isRight ? "right" : "wrong"}: ${explanation.reason}.`,
      ...(isRight ? [] : [explanation.fix]),
      `mine:      ${explanation.mine}`,
      `expected:  ${explanation.expected}, over ${explanation.body_bytes} bytes`,
    ];
    return { value: explanation, text: lines.join("\n"), failed: !isRight };
  },
});

export const signatureCommand = group(
  "signature",
  "Explain a webhook signature, without a server",
  [explain],
  EXAMPLE,
);
