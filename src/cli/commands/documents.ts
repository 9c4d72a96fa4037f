import type { CommandModule } from "yargs";
import packageJson from "../../../package.json" with { type: "json" };
import { print } from "../output.ts";

export const openapiCommand: CommandModule<object, { json: boolean; control: boolean }> = {
  command: "openapi",
  describe: "Print the OpenAPI 3.1 document of the emulated API, or of the control API",
  builder: (argv) =>
    argv
      .option("control", { type: "boolean", default: false, describe: "The control API's" })
      .example("$0 openapi > openapi.json", "No server needed") as never,
  async handler({ control }) {
    print(true, control ? await controlDocument() : await emulatedDocument(), "");
  },
};

async function emulatedDocument(): Promise<object> {
  const { openApiDocument } = await import("../../tools/reports/index.ts");
  const { API } = await import("../../engine/resources/index.ts");
  return openApiDocument(API, packageJson.version);
}

async function controlDocument(): Promise<object> {
  const { controlApiDocument } = await import("../../tools/reports/index.ts");
  const { CONTROL_OPERATIONS } = await import("../../control/operations/index.ts");
  return controlApiDocument(CONTROL_OPERATIONS, packageJson.version);
}

export const fidelityCommand: CommandModule<object, { json: boolean }> = {
  command: "fidelity",
  describe: "Print what is specified and what is assumed",
  builder: (argv) => argv.example("$0 fidelity --json", "The ledger for machines") as never,
  async handler({ json }) {
    const { fidelityLedger, fidelityMarkdown } = await import("../../tools/reports/index.ts");
    const { API } = await import("../../engine/resources/index.ts");
    const ledger = fidelityLedger(API.operations);
    print(json, ledger, fidelityMarkdown(ledger).trimEnd());
  },
};
