import type { CommandModule } from "yargs";
import packageJson from "../../../package.json" with { type: "json" };
import { print } from "../output.ts";

export const openapiCommand: CommandModule<object, { json: boolean }> = {
  command: "openapi",
  describe: "Print the OpenAPI 3.1 document of the emulated API",
  builder: (argv) => argv.example("$0 openapi > openapi.json", "No server needed") as never,
  async handler() {
    const { openApiDocument } = await import("../../reports/openapi.ts");
    const { API } = await import("../../resources/index.ts");
    print(true, openApiDocument(API, packageJson.version), "");
  },
};

export const fidelityCommand: CommandModule<object, { json: boolean }> = {
  command: "fidelity",
  describe: "Print what is specified and what is assumed",
  builder: (argv) => argv.example("$0 fidelity --json", "The ledger for machines") as never,
  async handler({ json }) {
    const { fidelityLedger, fidelityMarkdown } = await import("../../reports/fidelity.ts");
    const { API } = await import("../../resources/index.ts");
    const ledger = fidelityLedger(API.operations);
    print(json, ledger, fidelityMarkdown(ledger).trimEnd());
  },
};
