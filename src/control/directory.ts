import type { IncomingHttpHeaders } from "node:http";
import type { SandboxRegistry } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";

/** The sandboxes that a client can name: those of this server, or of its whole fleet (interfaces 15). */
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
  status(limit: number): Promise<FleetStatus>;
  /** Undefined for a server without a fleet. */
  getFigures(): FleetFigures | undefined;
}

export interface FleetStatus {
  store: string | null;
  nodes: { url: string; version: string; started_at: string; owned: number }[];
  sandboxes: { total: number; owned: number; free: number };
  leases: { sandbox: string; node: string | null; epoch: number }[];
}

export interface FleetFigures {
  node: string;
  lease: "held" | "lost";
  owned: number;
  proxied: number;
  taken_over: number;
  fenced: number;
}

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

  async status(): Promise<FleetStatus> {
    const { size } = this.sandboxes;
    return { store: null, nodes: [], leases: [], sandboxes: { total: size, owned: size, free: 0 } };
  }

  getFigures(): undefined {}
}
