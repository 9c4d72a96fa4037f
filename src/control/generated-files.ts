import packageJson from "../../package.json" with { type: "json" };
import "../hosts/node/platform.ts";
import { scenarioSchemaText } from "../engine/faults/rule-document.ts";
import { fixtureSchemaText } from "../engine/fixtures/fixture-schema.ts";
import { API, RESOURCES } from "../engine/resources/index.ts";
import { type ApiDocument, apiPage } from "../tools/reports/api-page.ts";
import { controlApiDocument } from "../tools/reports/control-openapi.ts";
import { eventCatalogue, eventsPage } from "../tools/reports/event-catalogue.ts";
import { assumptionsPage, fidelityLedger, fidelityMarkdown } from "../tools/reports/fidelity.ts";
import { openApiDocument } from "../tools/reports/openapi.ts";
import { withTables } from "../tools/reports/page-tables.ts";
import { API_NAMES, API_SCHEMAS, RECORD_SCHEMAS } from "./api-schemas.ts";
import { CONTROL_OPERATIONS } from "./operations/index.ts";

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

/** The source of the library's generated types (scripts/client-types.mjs). */
export const clientSchemas = { names: API_NAMES, schemas: API_SCHEMAS, records: RECORD_SCHEMAS };
