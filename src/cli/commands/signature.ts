import { readFileSync } from "node:fs";
import type { CommandModule } from "yargs";
import "../../hosts/node/platform.ts";
import { EXIT_FAILED, UsageError } from "../failure.ts";
import { print } from "../output.ts";

interface Options {
  secret: string;
  body: string;
  mine: string;
  timestamp: string | undefined;
  json: boolean;
}

export const signatureCommand: CommandModule = {
  command: "signature",
  describe: "Explain a webhook signature, without a server",
  builder: (argv) =>
    argv
      .command({
        command: "explain",
        describe: "Say what a receiver's own digest was probably made of",
        builder: (explain) =>
          explain
            .option("secret", {
              type: "string",
              demandOption: true,
              requiresArg: true,
              describe: "The webhook's signing secret (whsec_…)",
            })
            .option("body", {
              type: "string",
              demandOption: true,
              requiresArg: true,
              describe: "File with the body's bytes as they travelled; - reads standard input",
            })
            .option("mine", {
              type: "string",
              demandOption: true,
              requiresArg: true,
              describe: "The signature that the receiver computed, such as sha256=…",
            })
            .option("timestamp", {
              type: "string",
              requiresArg: true,
              describe: "A timestamp that may have been signed along with the body",
            })
            .example(
              "$0 signature explain --secret whsec_… --body delivery.json --mine sha256=…",
              "",
            ) as never,
        handler: explainMine,
      } as CommandModule<object, Options>)
      .demandCommand(1, "signature takes an action: explain")
      .example("$0 signature explain --secret whsec_… --body delivery.json --mine sha256=…", ""),
  handler: () => {},
};

async function explainMine({ secret, body, mine, timestamp, json }: Options): Promise<void> {
  if (secret === "") throw new UsageError("--secret is empty");
  const { explainSignature } = await import("../../engine/receivers/judge-signature.ts");
  const bytes = readFileSync(body === "-" ? process.stdin.fd : body);
  const found = explainSignature({ secret, body: bytes, mine, timestamp });
  const lines = [
    `${found.verdict === "valid" ? "It is right" : "It is not right"}: ${found.reason}.`,
    ...(found.verdict === "valid" ? [] : [found.fix]),
    `mine:      ${found.mine}`,
    `expected:  ${found.expected}, over ${found.body_bytes} bytes`,
  ];
  print(json, found, lines.join("\n"));
  if (found.verdict !== "valid") process.exitCode = EXIT_FAILED;
}
