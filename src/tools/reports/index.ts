// What command line and control API need of reports: loaded with the first of it that somebody asks for.
export { controlApiDocument } from "./control-openapi.ts";
export { coverageHtml } from "./coverage-html.ts";
export { eventCatalogue, eventTypes } from "./event-catalogue.ts";
export { fidelityLedger, fidelityMarkdown } from "./fidelity.ts";
export { openApiDocument } from "./openapi.ts";
