import type { IncomingHttpHeaders } from "node:http";
import { type Static, Type } from "typebox";
import { ClosedObject, StringEnum, Timestamp } from "../engine/contract/schema.ts";
import type { SandboxRegistry } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";

/** The sandboxes that a client can name: those of this server, or of its whole fleet (interfaces.md 15). */
export interface SandboxDirectory {
  /** Stores a new sandbox. @throws StoreRefusal if there is one of that name, or no room */
  register(sandbox: Sandbox): Promise<void>;
  count(): Promise<number>;
  /** Lists the sandboxes in order of creation. */
  listNames(): Promise<string[]>;
  /** The sandbox, taken over if no node owns it; undefined if another node owns it, or there is none. */
  find(name: string): Promise<Sandbox | undefined>;
  /** Whether another node has forwarded this call, so that only this node's sandboxes are meant. */
  isForwarded(headers: IncomingHttpHeaders): boolean;
  /** The answers of the other nodes to a GET. */
  askOtherNodes(path: string, headers: IncomingHttpHeaders): Promise<unknown[]>;
  getStatus(limit: number): Promise<Static<typeof FleetBody>>;
  /** Undefined for a server without a fleet. */
  getFigures(): FleetFigures | undefined;
}

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const FleetFiguresBody = ClosedObject({
  node: Type.String({ description: "This node's `--node-url`" }),
  lease: StringEnum(["held", "lost"], { description: "Whether the node may own sandboxes at the moment" }),
  owned: Count("Sandboxes that this node owns"),
  proxied: Count("Requests proxied to other nodes since the start"),
  taken_over: Count("Sandboxes taken over since the start"),
  fenced: Count("Sandboxes lost to other nodes since the start"),
});

export const FleetBody = ClosedObject(
  {
    store: Type.Union([Type.String(), Type.Null()], {
      description: "The URL of its Redis; null for a single server",
    }),
    nodes: Type.Array(
      ClosedObject({
        url: Type.String({ description: "Where the other nodes reach it" }),
        version: Type.String(),
        started_at: Timestamp({ description: "On that machine's clock" }),
        owned: Count("Sandboxes that it owns"),
      }),
      { description: "The living nodes" },
    ),
    sandboxes: ClosedObject({
      total: Count("All sandboxes of the fleet"),
      owned: Count("Sandboxes that a living node owns"),
      free: Count("Sandboxes without an owner. The next node that is asked for such a sandbox takes it over"),
    }),
    leases: Type.Array(
      ClosedObject({
        sandbox: Type.String(),
        node: Type.Union([Type.String(), Type.Null()], {
          description: "The sandbox's owner; null if it has none",
        }),
        epoch: Count("Grows with each owner"),
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

export type FleetFigures = Static<typeof FleetFiguresBody>;

/** The directory of a server without a fleet. */
export class LocalDirectory implements SandboxDirectory {
  private readonly sandboxes: SandboxRegistry;

  constructor(sandboxes: SandboxRegistry) {
    this.sandboxes = sandboxes;
  }

  async register(): Promise<void> {}

  async count(): Promise<number> {
    return this.sandboxes.size;
  }

  async listNames(): Promise<string[]> {
    return [...this.sandboxes.all()].map(({ name }) => name);
  }

  async find(name: string): Promise<Sandbox | undefined> {
    return this.sandboxes.get(name);
  }

  isForwarded(): boolean {
    return false;
  }

  async askOtherNodes(): Promise<unknown[]> {
    return [];
  }

  async getStatus(): Promise<Static<typeof FleetBody>> {
    const { size } = this.sandboxes;
    return { store: null, nodes: [], leases: [], sandboxes: { total: size, owned: size, free: 0 } };
  }

  getFigures(): undefined {}
}
