import type { IncomingMessage, ServerResponse } from "node:http";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { FleetNode } from "./fleet-node.ts";
import type { Arrived, Placed } from "./placing.ts";

type Handle = (request: IncomingMessage, response: ServerResponse, path: string) => void | Promise<void>;

/** What `--durable` is to a server with a disk: an answer leaves once the fleet's store has what it tells of. */
export function fleetDurability(fleet: () => FleetNode) {
  return {
    mark: () => fleet().saver.mark(),
    settled: (sandbox: Sandbox | undefined, mark: number) =>
      // A new sandbox was made the fleet's when it was made.
      sandbox === undefined ? undefined : fleet().saver.settled(sandbox, mark),
  };
}

/** Finds the sandbox of a request; one that no node can take now is refused, and so answered. */
export function placeOrRefuse(
  fleet: () => FleetNode,
  refuse: (request: IncomingMessage, response: ServerResponse, error: unknown) => void,
) {
  return (name: string, exchange?: Arrived): Placed | Promise<Placed> => {
    const placed = fleet().place(name, exchange);
    if (!(placed instanceof Promise)) return placed;
    return placed.catch((error) => {
      refuse(exchange!.request, exchange!.response, error);
      return "answered" as const;
    });
  };
}

/** Calls below `prefix` that name a sandbox, in this node where it owns the sandbox. */
export function ofSandbox(fleet: () => FleetNode, prefix: string, handle: Handle): Handle {
  return async (request, response, path) => {
    const name = path.startsWith(prefix) ? /^[^/]+/.exec(path.slice(prefix.length))?.[0] : undefined;
    if (name !== undefined && (await fleet().place(name, { request, response })) === "answered") return;
    await handle(request, response, path);
  };
}
