import packageJson from "../../../package.json" with { type: "json" };
import { command, flag } from "../command.ts";
import { printJson } from "../process.ts";

export const openapiCommand = command({
  command: "openapi",
  describe: "Print the OpenAPI 3.1 document of the emulated API, or of the control API",
  options: { control: flag("The control API's document") },
  examples: [["$0 openapi > openapi.json", "No server needed"]],
  async run({ control }) {
    if (control) {
      const { buildControlApiDocument } = await import("../../tools/reports/control-openapi.ts");
      const { CONTROL_OPERATIONS } = await import("../../control/operations/index.ts");
      return printJson(buildControlApiDocument(CONTROL_OPERATIONS, packageJson.version));
    }
    const { buildOpenApiDocument } = await import("../../tools/reports/openapi.ts");
    const { API } = await import("../../engine/resources/index.ts");
    printJson(buildOpenApiDocument(API, packageJson.version));
  },
});

export const fidelityCommand = command({
  command: "fidelity",
  describe: "Print which behaviour is specified and which is assumed",
  examples: [["$0 fidelity --json", "The ledger for machines"]],
  async run() {
    const { renderAssumptionsPage, buildFidelityLedger, renderFidelityPage } = await import(
      "../../tools/reports/fidelity.ts"
    );
    const { API } = await import("../../engine/resources/index.ts");
    const ledger = buildFidelityLedger(API.operations);
    return { value: ledger, text: `${renderFidelityPage(ledger)}\n${renderAssumptionsPage()}`.trimEnd() };
  },
});
