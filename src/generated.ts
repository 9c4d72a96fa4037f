import packageJson from "../package.json" with { type: "json" };
import { API_NAMES, API_SCHEMAS, RECORD_SCHEMAS } from "./control/api-schemas.ts";
import { CONTROL_OPERATIONS } from "./control/operations/index.ts";
import { scenarioSchemaText } from "./faults/scenarios/scenario-schema.ts";
import { fixtureSchemaText } from "./fixtures/fixture-schema.ts";
import { type ApiDocument, apiPage } from "./reports/api-page.ts";
import { assumptionsPage } from "./reports/assumptions-page.ts";
import { controlApiDocument } from "./reports/control-openapi.ts";
import { eventCatalogue, eventsPage } from "./reports/event-catalogue.ts";
import { fidelityLedger, fidelityMarkdown } from "./reports/fidelity.ts";
import { openApiDocument } from "./reports/openapi.ts";
import { withTables } from "./reports/page-tables.ts";
import { API, RESOURCES } from "./resources/index.ts";

/** Pages with tables of calls, problems or settings. */
const PAGES = ["control-api.md", "errors-and-limits.md", "sandboxes-and-time.md"];

/**
 * The files under docs/ that follow from the declarations, by name; of pages their tables alone, and `read` gives
 * the rest.
 */
export async function generatedFiles(read: (name: string) => string): Promise<Record<string, string>> {
  const openApi = openApiDocument(API, packageJson.version);
  return {
    "openapi.json": `${JSON.stringify(openApi, null, 2)}\n`,
    "api.md": apiPage(openApi as unknown as ApiDocument),
    "control-api.json": `${JSON.stringify(controlApiDocument(CONTROL_OPERATIONS, packageJson.version), null, 2)}\n`,
    ...Object.fromEntries(PAGES.map((name) => [name, withTables(read(name), CONTROL_OPERATIONS)])),
    "events.md": eventsPage(eventCatalogue(API.events)),
    "fidelity.md": fidelityMarkdown(fidelityLedger(API.operations)),
    "reference/assumptions.md": assumptionsPage(API.operations),
    "fixture.schema.json": fixtureSchemaText(RESOURCES),
    "scenario.schema.json": scenarioSchemaText(API),
  };
}

/** What the library's types are generated from (scripts/client-types.mjs). */
export const clientSchemas = { names: API_NAMES, schemas: API_SCHEMAS, records: RECORD_SCHEMAS };
