import { type Static, Type } from "typebox";
import { RawBody } from "../../engine/contract/reply.ts";
import { ClosedObject, ListOf, StringEnum, Timestamp } from "../../engine/contract/schema.ts";
import type { SavingFailure } from "../../persistence/saver.ts";
import { CataloguedEvent } from "../../tools/reports/event-catalogue.ts";
import { FidelityLedger } from "../../tools/reports/fidelity.ts";
import { FleetBody, FleetFiguresBody } from "../directory.ts";
import { formatMetrics } from "../metrics.ts";
import { type ControlOperation, OptionalFlag, operation, toList } from "../operation.ts";

/** A server without a store has no `saving`. A server that cannot save still answers. */
function renderSaving(failure: SavingFailure | null | undefined): { saving?: Static<typeof Saving> } {
  if (failure === undefined) return {};
  if (failure === null) return { saving: { state: "ok" } };
  const { since, refusal } = failure;
  return {
    saving: { state: "failing", since: new Date(since).toISOString(), reason: `${refusal.message}.` },
  };
}

const Saving = ClosedObject({
  state: StringEnum(["ok", "failing"]),
  since: Type.Optional(Timestamp()),
  reason: Type.Optional(Type.String()),
});

export const HealthBody = ClosedObject(
  {
    status: Type.Literal("ok"),
    version: Type.String(),
    uptime_seconds: Type.Integer({ minimum: 0 }),
    started_at: Type.Optional(
      Timestamp({ description: "With `started`: no two starts have the same value" }),
    ),
    sandboxes: Type.Integer({ minimum: 0, description: "The number of sandboxes" }),
    saving: Type.Optional(
      Type.Unsafe<Static<typeof Saving>>({ ...Saving, description: "With `--persist` or `--store`" }),
    ),
    fleet: Type.Optional(
      Type.Unsafe<Static<typeof FleetFiguresBody>>({ ...FleetFiguresBody, description: "With `--store`" }),
    ),
  },
  { $id: "Health", examples: [{ status: "ok", version: "0.1.0", uptime_seconds: 12, sandboxes: 1 }] },
);

export const OpenApiDocument = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  required: ["openapi", "info", "paths"],
  description: "An OpenAPI 3.1 document",
  examples: [{ openapi: "3.1.0", info: { title: "An API", version: "0.1.0" }, paths: {} }],
});

// Reports are loaded when first requested, to keep the server's start short.
export const SERVER_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "server.health",
    route: "GET /_control/health",
    summary: "Show that the server runs. `started=true` adds `started_at`",
    query: ClosedObject({
      started: OptionalFlag("Whether to show the instant of its start"),
    }),
    success: { status: 200, schema: HealthBody },
    handle: async ({ server, query }) => {
      const fleet = server.directory.getFigures();
      return {
        status: "ok" as const,
        version: server.version,
        uptime_seconds: Math.floor((performance.now() - server.startedAt) / 1000),
        ...(query.started && {
          started_at: new Date(performance.timeOrigin + server.startedAt).toISOString(),
        }),
        sandboxes: await server.directory.count(),
        ...renderSaving(server.getSavingFailure()),
        ...(fleet && { fleet }),
      };
    },
  }),
  operation({
    id: "server.fleet",
    section: "interfaces 15",
    route: "GET /_control/fleet",
    summary: "Show the servers of a fleet, which share one Redis, and the owner of each sandbox",
    query: ClosedObject({
      limit: Type.Integer({
        minimum: 0,
        maximum: 100_000,
        default: 100,
        description: "The maximum number of leases",
      }),
    }),
    success: { status: 200, schema: FleetBody },
    handle: ({ server, query }) => server.directory.getStatus(query.limit),
  }),
  operation({
    id: "server.openapi",
    route: "GET /_control/openapi.json",
    summary: "Show the OpenAPI document of the emulated API",
    success: { status: 200, schema: OpenApiDocument },
    async handle({ server, site }) {
      const { buildOpenApiDocument } = await import("../../tools/reports/openapi.ts");
      return buildOpenApiDocument(server.getApi(), server.version, site);
    },
  }),
  operation({
    id: "server.events",
    section: "interfaces 14",
    route: "GET /_control/events",
    summary: "List all events, each with a schema and a sample",
    success: { status: 200, schema: ListOf(CataloguedEvent) },
    async handle({ server }) {
      const { buildEventCatalogue } = await import("../../tools/reports/event-catalogue.ts");
      return toList(buildEventCatalogue(server.getApi().events));
    },
  }),
  operation({
    id: "server.fidelity",
    route: "GET /_control/fidelity",
    summary: "Show which behaviour is specified and which is assumed",
    success: { status: 200, schema: FidelityLedger },
    async handle({ server }) {
      const { buildFidelityLedger } = await import("../../tools/reports/fidelity.ts");
      return buildFidelityLedger(server.getApi().operations);
    },
  }),
  operation({
    id: "server.metrics",
    route: "GET /_control/metrics",
    summary: "Show metrics in Prometheus' text format",
    success: { status: 200, content_types: ["text/plain"] },
    handle: ({ server }) => new RawBody("text/plain; version=0.0.4; charset=utf-8", formatMetrics(server)),
  }),
];
