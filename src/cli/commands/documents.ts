import type { CommandModule } from "yargs";
import packageJson from "../../../package.json" with { type: "json" };
import { print } from "../output.ts";

async function operations() {
  const { RESOURCES } = await import("../../resources/index.ts");
  return RESOURCES.flatMap((resource) => resource.operations);
}

export const openapiCommand: CommandModule<object, { json: boolean }> = {
  command: "openapi",
  describe: "Print the OpenAPI 3.1 document of the emulated API",
  builder: (argv) => argv.example("$0 openapi > openapi.json", "No server needed") as never,
  async handler() {
    const { openApiDocument } = await import("../../reports/openapi.ts");
    const { WEBHOOK_EVENTS } = await import("../../resources/index.ts");
    print(true, openApiDocument(await operations(), packageJson.version, WEBHOOK_EVENTS), "");
  },
};

export const fidelityCommand: CommandModule<object, { json: boolean }> = {
  command: "fidelity",
  describe: "Print what is specified and what is assumed",
  builder: (argv) => argv.example("$0 fidelity --json", "The ledger for machines") as never,
  async handler({ json }) {
    const { fidelityLedger, fidelityMarkdown } = await import("../../reports/fidelity.ts");
    const ledger = fidelityLedger(await operations());
    print(json, ledger, fidelityMarkdown(ledger).trimEnd());
  },
};
