import { nearest } from "../documents/nearest.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ControlServer } from "./operation.ts";
import { unprocessable } from "./problem.ts";

/**
 * Another sandbox than the one in the path, which a field of the call names.
 * @throws Problem 422
 */
export function sandboxNamed({ sandboxes }: ControlServer, name: string, field: string): Sandbox {
  const found = sandboxes.get(name);
  if (found !== undefined) return found;
  const hint = nearest(
    name,
    [...sandboxes.all()].map((one) => one.name),
  );
  throw unprocessable(field, name, "must be the name of a sandbox of this server", hint);
}
