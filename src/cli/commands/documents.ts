import type { CommandModule } from "yargs";
import packageJson from "../../../package.json" with { type: "json" };
import { fidelityLedger, fidelityMarkdown } from "../../reports/fidelity.ts";
import { openApiDocument } from "../../reports/openapi.ts";
import { RESOURCES } from "../../resources/index.ts";
import { print } from "../output.ts";

const operations = () => RESOURCES.flatMap((resource) => resource.operations);

export const openapiCommand: CommandModule<object, { json: boolean }> = {
  command: "openapi",
  describe: "Print the OpenAPI 3.1 document of the emulated API",
  builder: (argv) => argv.example("$0 openapi > openapi.json", "No server needed") as never,
  handler: () => print(true, openApiDocument(operations(), packageJson.version), ""),
};

export const fidelityCommand: CommandModule<object, { json: boolean }> = {
  command: "fidelity",
  describe: "Print what is specified and what is assumed",
  builder: (argv) => argv.example("$0 fidelity --json", "The ledger for machines") as never,
  handler: ({ json }) => {
    const ledger = fidelityLedger(operations());
    print(json, ledger, fidelityMarkdown(ledger).trimEnd());
  },
};
