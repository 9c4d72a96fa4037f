import type { Static } from "typebox";
import type { ControlCall, ControlFleet } from "./operation.ts";
import { presentSandbox, type SandboxBody } from "./sandbox-body.ts";

type Shown = Static<typeof SandboxBody>;

/** Sandboxes that are taken over at once. */
const AT_ONCE = 16;

/**
 * interfaces 15: those of all nodes, in order of creation. Each node shows its own; what nobody owns is taken over,
 * as by any other request for it.
 */
export async function listFleet(
  fleet: ControlFleet,
  { server, origin, headers }: Pick<ControlCall, "server" | "origin" | "headers">,
): Promise<Shown[]> {
  const own = () => [...server.sandboxes.all()].map((sandbox) => presentSandbox(sandbox, origin));
  if (fleet.isPassedOn(headers)) return own();
  const [names, others] = await Promise.all([fleet.names(), fleet.askOthers("/_control/sandboxes", headers)]);
  const theirs = others.flatMap((answer) => (answer as { items: Shown[] }).items);
  const known = new Map([...theirs, ...own()].map((shown) => [shown.name, shown]));
  const free = names.filter((name) => !known.has(name));
  for (let from = 0; from < free.length; from += AT_ONCE) {
    const taken = await Promise.all(free.slice(from, from + AT_ONCE).map((name) => fleet.find(name)));
    for (const sandbox of taken) if (sandbox) known.set(sandbox.name, presentSandbox(sandbox, origin));
  }
  return names.flatMap((name) => known.get(name) ?? []);
}
