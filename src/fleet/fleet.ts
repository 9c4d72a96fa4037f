import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { normalizePath } from "../engine/contract/http-url.ts";
import { setBaseKey } from "../engine/pipeline/plain-http.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Connection, DurabilityHook, SandboxLookup } from "../hosts/node/hooks.ts";
import type { SavingFailure } from "../persistence/saver.ts";
import type { FleetNode, FleetParts } from "./fleet-node.ts";

interface FleetOptions {
  /** Address of the Redis, for example `redis://10.0.0.9:6379`. */
  url: string;
  /** Address at which the other nodes reach this one. */
  nodeUrl: string;
}

interface JoiningParts extends Omit<FleetParts, "store" | "token"> {
  token: string | undefined;
  /** Maximum number of sandboxes in the whole fleet. */
  limit: number | undefined;
}

/** Headers about the caller, and about the address by which the client reaches the fleet. */
const FORWARDED_HEADERS = /^(host|authorization|forwarded|x-forwarded-(proto|host))$/;

type Handle = (request: IncomingMessage, response: ServerResponse, path: string) => void | Promise<void>;
/** Answers a request that no node can serve now. */
type Refuse = (request: IncomingMessage, response: ServerResponse, error: unknown) => void;

/**
 * The interface of a fleet for the rest of a server (interfaces.md 15): finds sandboxes, delays answers until Redis has
 * their changes, and lists the sandboxes of other nodes. The node itself is loaded by `open`.
 */
export class Fleet implements DurabilityHook {
  private readonly options: FleetOptions;
  private readonly refuse: Refuse;
  private openedNode: FleetNode | undefined;

  constructor(options: FleetOptions, refuse: Refuse) {
    this.options = options;
    this.refuse = refuse;
  }

  /** Joins the fleet. @throws PersistenceError if it cannot */
  async open({ limit = Number.POSITIVE_INFINITY, token = "", ...parts }: JoiningParts): Promise<void> {
    const [{ RedisStore }, { FleetNode }] = await Promise.all([
      import("../persistence/redis-store.ts"),
      import("./fleet-node.ts"),
    ]);
    const { url, nodeUrl } = this.options;
    const store = await RedisStore.open(url, { session: randomUUID(), url: nodeUrl }, (warning) =>
      parts.log.warn(warning),
    );
    store.limit = limit;
    setBaseKey(token);
    try {
      const node = new FleetNode({ ...parts, token, store });
      this.openedNode = node;
      await node.begin();
    } catch (error) {
      store.connection.close();
      throw error;
    }
  }

  /** Finds the sandbox of a request. If no node can serve it now, the request is answered with a refusal. */
  readonly findSandbox = (name: string, connection?: Connection): SandboxLookup | Promise<SandboxLookup> => {
    const result = this.node.route(name, connection);
    if (!(result instanceof Promise) || connection === undefined) return result;
    return result.catch((error) => {
      this.refuse(connection.request, connection.response, error);
      return "answered" as const;
    });
  };

  /** Forwards calls below `prefix`, which name a sandbox, to the node that owns it. */
  handleAtOwner(prefix: string, handle: Handle): Handle {
    return async (request, response, path) => {
      const name = path.startsWith(prefix) ? /^[^/]+/.exec(path.slice(prefix.length))?.[0] : undefined;
      if (
        name !== undefined &&
        (await this.node.route(normalizePath(name), { request, response })) === "answered"
      )
        return;
      await handle(request, response, path);
    };
  }

  readonly countRefusals = (): number => this.node.saver.countRefusals();

  /** A control call without a sandbox needs no wait: `register` has stored one that it created. */
  readonly waitUntilStored = (
    sandbox: Sandbox | undefined,
    refusalsBefore: number,
  ): undefined | Promise<void> =>
    sandbox === undefined ? undefined : this.node.saver.waitUntilStored(sandbox, refusalsBefore);

  waitUntilReadyToSend(sandbox: Sandbox): Promise<void> {
    return this.node.saver.waitUntilReadyToSend(sandbox);
  }

  /** Why changes cannot be saved at the moment; null while they can, undefined before `open`. */
  get failure(): SavingFailure | null | undefined {
    return this.openedNode && (this.openedNode.saver.failure ?? null);
  }

  /** @param countUnanswered returns how many requests this server has not begun to answer */
  async leave(countUnanswered: () => number): Promise<void> {
    await this.openedNode?.leave(countUnanswered);
  }

  /** Call this after the last answer. */
  async end(): Promise<void> {
    await this.openedNode?.end();
  }

  register(sandbox: Sandbox): Promise<void> {
    return this.node.saver.register(sandbox);
  }

  /** Sandboxes in the whole fleet; those of this node while Redis cannot be reached. */
  async count(): Promise<number> {
    const { store, saver } = this.node;
    return store.count().catch(() => saver.size);
  }

  /** Lists the sandboxes in order of creation. */
  async listNames(): Promise<string[]> {
    return (await this.node.register.listLeases()).map(({ sandbox }) => sandbox);
  }

  /** The sandbox, taken over if it has no owner; undefined if another node owns it, or there is none. */
  async find(name: string): Promise<Sandbox | undefined> {
    const result = await this.node.route(name);
    return result === "answered" ? undefined : result;
  }

  isForwarded(headers: IncomingHttpHeaders): boolean {
    return this.node.router.isForwarded(headers);
  }

  /** Sends a GET to each of the other nodes with the caller's token; a node that does not answer is left out. */
  async askOtherNodes(path: string, headers: IncomingHttpHeaders): Promise<unknown[]> {
    const forwardedHeaders = Object.entries(headers).filter(([name]) => FORWARDED_HEADERS.test(name));
    const { register, router, session } = this.node;
    const others = (await register.listLiveNodes()).filter(({ url }) => url !== session.url);
    const ask = ({ url }: { url: string }) =>
      router.proxy.fetchJson(url + path, Object.fromEntries(forwardedHeaders)).catch(() => undefined);
    const answers = await Promise.all(others.map(ask));
    return answers.filter((answer) => answer !== undefined);
  }

  getFigures() {
    const { saver, router, takeoverCount, session } = this.node;
    return {
      node: session.url,
      lease: session.isValid ? ("held" as const) : ("lost" as const),
      owned: saver.size,
      proxied: router.proxy.forwardedCount,
      taken_over: takeoverCount,
      fenced: saver.fencedCount,
    };
  }

  /** Nodes, sandboxes and the first leases. */
  async getStatus(limit: number) {
    const { register, store } = this.node;
    const [nodes, leases] = await Promise.all([register.listLiveNodes(), register.listLeases()]);
    const urls = new Map(nodes.map(({ session, url }) => [session, url]));
    const owned = new Map<string, number>();
    for (const { session } of leases) owned.set(session, (owned.get(session) ?? 0) + 1);
    const ownedCount = leases.filter(({ session }) => urls.has(session)).length;
    return {
      store: store.connection.place,
      nodes: nodes.map(({ url, version, started_at, session }) => ({
        url,
        version,
        started_at: new Date(started_at).toISOString(),
        owned: owned.get(session) ?? 0,
      })),
      sandboxes: { total: leases.length, owned: ownedCount, free: leases.length - ownedCount },
      leases: leases.slice(0, limit).map(({ sandbox, session, epoch }) => ({
        sandbox,
        node: urls.get(session) ?? null,
        epoch: Number(epoch),
      })),
    };
  }

  private get node(): FleetNode {
    if (this.openedNode === undefined) throw new Error("the fleet is not open yet");
    return this.openedNode;
  }
}
