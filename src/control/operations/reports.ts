import Type from "typebox";
import { RawBody } from "../../engine/contract/reply.ts";
import { ListOf } from "../../engine/contract/schema.ts";
import { API } from "../../engine/resources/index.ts";
import { CataloguedEvent } from "../../tools/reports/event-catalogue.ts";
import { FidelityLedger } from "../../tools/reports/fidelity.ts";
import { metricsText } from "../metrics.ts";
import { type ControlOperation, operation } from "../operation.ts";

const OpenApiDocument = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  required: ["openapi", "info", "paths"],
  description: "An OpenAPI 3.1 document",
  examples: [{ openapi: "3.1.0", info: { title: "An API", version: "0.1.0" }, paths: {} }],
});

const showOpenApi = operation({
  id: "server.openapi",
  section: "interfaces 4",
  method: "GET",
  path: "/_control/openapi.json",
  summary: "Show the emulated API as an OpenAPI 3.1 document",
  errors: [],
  success: { status: 200, schema: OpenApiDocument },
  // Loaded when asked for: the server's start must not pay for its reports.
  async handle({ server }) {
    const { openApiDocument } = await import("../../tools/reports/openapi.ts");
    return openApiDocument(API, server.version);
  },
});

const listEvents = operation({
  id: "server.events",
  section: "interfaces 14",
  method: "GET",
  path: "/_control/events",
  summary: "List all events, with the schema and a sample of each payload",
  errors: [],
  success: { status: 200, schema: ListOf(CataloguedEvent) },
  async handle() {
    const { eventCatalogue } = await import("../../tools/reports/event-catalogue.ts");
    const items = eventCatalogue(API.events);
    return { items, total: items.length };
  },
});

const showFidelity = operation({
  id: "server.fidelity",
  section: "interfaces 4",
  method: "GET",
  path: "/_control/fidelity",
  summary: "Show which behaviour is specified and which is assumed",
  errors: [],
  success: { status: 200, schema: FidelityLedger },
  async handle({ server }) {
    const { fidelityLedger } = await import("../../tools/reports/fidelity.ts");
    return fidelityLedger(server.operations);
  },
});

const showMetrics = operation({
  id: "server.metrics",
  section: "interfaces 4",
  method: "GET",
  path: "/_control/metrics",
  summary: "Show metrics of the server in Prometheus' text format",
  errors: [],
  success: { status: 200, content_types: ["text/plain"] },
  handle: ({ server }) => new RawBody("text/plain; version=0.0.4; charset=utf-8", metricsText(server)),
});

/** Describes all calls, itself among them, which is why they are asked for only when it is called. */
const showControlApi = (calls: () => readonly ControlOperation[]) =>
  operation({
    id: "server.api",
    section: "interfaces 11",
    method: "GET",
    path: "/_control/api.json",
    summary: "Show the control API as an OpenAPI 3.1 document",
    errors: [],
    success: { status: 200, schema: OpenApiDocument },
    async handle({ server }) {
      const { controlApiDocument } = await import("../../tools/reports/control-openapi.ts");
      return controlApiDocument(calls(), server.version);
    },
  });

export const reportOperations = (calls: () => readonly ControlOperation[]): readonly ControlOperation[] => [
  showOpenApi,
  listEvents,
  showControlApi(calls),
  showFidelity,
  showMetrics,
];
