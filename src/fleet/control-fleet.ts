import type { IncomingHttpHeaders } from "node:http";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { FleetNode } from "./fleet-node.ts";
import { HOP_HEADER } from "./hop-header.ts";

/** What the control API sees of the fleet; every method asks Redis or the other nodes. */
export class ControlFleet {
  private readonly node: () => FleetNode;

  constructor(node: () => FleetNode) {
    this.node = node;
  }

  enlist(sandbox: Sandbox): Promise<void> {
    return this.node().saver.enlist(sandbox);
  }

  /** How many sandboxes there are in the fleet; those of this node while nobody knows. */
  async count(): Promise<number> {
    const { store, saver } = this.node();
    return store.count().catch(() => saver.size);
  }

  figures() {
    const { saver, placing, takenOver, session } = this.node();
    return {
      node: session.url,
      lease: session.isValid ? ("held" as const) : ("lost" as const),
      owned: saver.size,
      passed_on: placing.passing.count,
      taken_over: takenOver,
      fenced: saver.fenced,
    };
  }

  isPassedOn(headers: Readonly<Record<string, unknown>>): boolean {
    return headers[HOP_HEADER] !== undefined;
  }

  /** Names in order of creation. */
  async names(): Promise<string[]> {
    return (await this.node().register.leases()).map(({ sandbox }) => sandbox);
  }

  /** What each of the other nodes answers to a GET, as its client was asked. */
  async askOthers(path: string, { host, authorization }: IncomingHttpHeaders): Promise<unknown[]> {
    const { register, placing, session } = this.node();
    const others = (await register.live()).filter(({ url }) => url !== session.url);
    const answers = await Promise.all(
      others.map(({ url }) =>
        placing.passing.ask(url + path, { host, authorization }).catch(() => undefined),
      ),
    );
    return answers.filter((answer) => answer !== undefined);
  }

  /** The sandbox, taken over where it is nobody's; undefined where it is another's, or there is none. */
  async find(name: string): Promise<Sandbox | undefined> {
    const placed = await this.node().place(name);
    return placed === "answered" ? undefined : placed;
  }

  /** Nodes, sandboxes and the first `most` leases. */
  async status(most: number) {
    const { register, store } = this.node();
    const [nodes, leases] = await Promise.all([register.live(), register.leases()]);
    const owners = new Map(nodes.map(({ session, url }) => [session, url]));
    const owned = new Map<string, number>();
    for (const { session } of leases) owned.set(session, (owned.get(session) ?? 0) + 1);
    const isOwned = leases.filter(({ session }) => owners.has(session)).length;
    return {
      store: store.connection.place,
      nodes: nodes.map(({ url, version, started_at, session }) => ({
        url,
        version,
        started_at: new Date(started_at).toISOString(),
        owned: owned.get(session) ?? 0,
      })),
      sandboxes: { total: leases.length, owned: isOwned, free: leases.length - isOwned },
      leases: leases.slice(0, most).map(({ sandbox, session, epoch }) => ({
        sandbox,
        node: owners.get(session) ?? null,
        epoch: Number(epoch),
      })),
    };
  }
}
