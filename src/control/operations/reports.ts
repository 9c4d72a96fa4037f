import { RawBody, Reply } from "../../contract/operation.ts";
import { WEBHOOK_EVENTS } from "../../resources/index.ts";
import { metricsText } from "../metrics.ts";
import { type AnyControlOperation, controlOperation } from "../operation.ts";

const showOpenApi = controlOperation({
  id: "reports.openapi",
  method: "GET",
  path: "/_control/openapi.json",
  summary: "The emulated API as an OpenAPI 3.1 document",
  // Loaded when asked for: the server's start must not pay for its reports.
  async handle({ server }) {
    const { openApiDocument } = await import("../../reports/openapi.ts");
    return openApiDocument(server.operations, server.version, WEBHOOK_EVENTS);
  },
});

const showFidelity = controlOperation({
  id: "reports.fidelity",
  method: "GET",
  path: "/_control/fidelity",
  summary: "What is specified and what is assumed",
  async handle({ server }) {
    const { fidelityLedger } = await import("../../reports/fidelity.ts");
    return fidelityLedger(server.operations);
  },
});

const showMetrics = controlOperation({
  id: "metrics",
  method: "GET",
  path: "/_control/metrics",
  summary: "Figures of the server in Prometheus' text format",
  handle: ({ server }) =>
    new Reply(200, new RawBody("text/plain; version=0.0.4; charset=utf-8", metricsText(server))),
});

export const REPORT_OPERATIONS: readonly AnyControlOperation[] = [showOpenApi, showFidelity, showMetrics];
