import Type from "typebox";
import { Closed, Timestamp } from "../../engine/contract/schema.ts";
import { type ControlOperation, operation } from "../operation.ts";

const Whole = (description: string) => Type.Integer({ minimum: 0, description });

export const FleetBody = Closed(
  {
    store: Type.Union([Type.String(), Type.Null()], {
      description: "The URL of its Redis; null for a single server",
    }),
    nodes: Type.Array(
      Closed({
        url: Type.String({ description: "Where the other nodes reach it" }),
        version: Type.String(),
        started_at: Timestamp({ description: "On that machine's clock" }),
        owned: Whole("Sandboxes that it owns"),
      }),
      { description: "Those that live" },
    ),
    sandboxes: Closed({
      total: Whole("In the fleet"),
      owned: Whole("That a living node owns"),
      free: Whole("That the next node asked takes over"),
    }),
    leases: Type.Array(
      Closed({
        sandbox: Type.String(),
        node: Type.Union([Type.String(), Type.Null()], { description: "Its owner; null if it has none" }),
        epoch: Whole("Grows with each owner"),
      }),
      { description: "In order of creation" },
    ),
  },
  {
    $id: "Fleet",
    description: "Nodes, sandboxes and leases of a fleet",
    examples: [
      {
        store: "redis://10.0.0.9:6379",
        nodes: [
          { url: "http://10.0.0.5:4747", version: "0.1.0", started_at: "2026-03-15T12:00:00.000Z", owned: 1 },
        ],
        sandboxes: { total: 1, owned: 1, free: 0 },
        leases: [{ sandbox: "default", node: "http://10.0.0.5:4747", epoch: 1 }],
      },
    ],
  },
);

const showFleet = operation({
  id: "server.fleet",
  section: "interfaces 15",
  method: "GET",
  path: "/_control/fleet",
  summary: "Show the nodes of a fleet and which node owns each sandbox; a single server has none",
  query: Closed({
    limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        default: 100,
        description: "The maximum number of leases",
      }),
    ),
  }),
  errors: [],
  success: { status: 200, schema: FleetBody },
  handle: ({ server, query }) => server.directory.status(query.limit ?? 100),
});

export const FLEET_OPERATIONS: readonly ControlOperation[] = [showFleet];
