import { nearest } from "../engine/documents/nearest.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { Elsewhere } from "./elsewhere.ts";
import type { ControlCall } from "./operation.ts";
import { unprocessable } from "./problem.ts";

/**
 * Another sandbox than the one in the path, which a field of the call names; that of a fleet may be another node's.
 * @throws Problem 422
 */
export async function sandboxNamed(
  { server, headers }: Pick<ControlCall, "server" | "headers">,
  name: string,
  field: string,
): Promise<Sandbox | Elsewhere> {
  const { fleet, sandboxes } = server;
  const found = fleet === undefined ? sandboxes.get(name) : await fleet.find(name);
  if (found !== undefined) return found;
  const names = (await fleet?.names()) ?? [...sandboxes.all()].map((one) => one.name);
  if (fleet !== undefined && names.includes(name)) return new Elsewhere(name, server, headers);
  throw unprocessable(field, name, "must be the name of a sandbox of this server", nearest(name, names));
}
