import packageJson from "../package.json" with { type: "json" };
import { scenarioSchemaText } from "./faults/scenarios/scenario-schema.ts";
import { fixtureSchemaText } from "./fixtures/fixture-schema.ts";
import { assumptionsPage } from "./reports/assumptions-page.ts";
import { fidelityLedger, fidelityMarkdown } from "./reports/fidelity.ts";
import { openApiDocument } from "./reports/openapi.ts";
import { API, RESOURCES } from "./resources/index.ts";

/** The files under docs/ that follow from the declarations, by name. */
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    "openapi.json": `${JSON.stringify(openApiDocument(API, packageJson.version), null, 2)}\n`,
    "fidelity.md": fidelityMarkdown(fidelityLedger(API.operations)),
    "reference/assumptions.md": assumptionsPage(API.operations),
    "fixture.schema.json": fixtureSchemaText(RESOURCES),
    "scenario.schema.json": scenarioSchemaText(API),
  };
}
