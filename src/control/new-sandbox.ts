import { randomBytes } from "node:crypto";
import Type from "typebox";
import { SANDBOX_NAME } from "../engine/sandbox/registry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { requireRoom, requireRoomForRecords } from "./limits.ts";
import type { ControlServer } from "./operation.ts";
import { conflict, NAME_ADVICE, unprocessable } from "./problem.ts";
import { presentSandbox } from "./sandbox-body.ts";

export const NewName = Type.String({
  description: "1 to 63 lower-case letters, digits and hyphens; generated if left out",
});

/** Creates a sandbox, and deletes it again if it cannot be shown (a fixture with clashing records). */
export async function settled(server: ControlServer, origin: string, make: () => Sandbox) {
  const sandbox = make();
  try {
    requireRoomForRecords(server, sandbox.world.root);
    if (server.limits !== undefined)
      requireRoom(server, "rules", server.faults.of(sandbox).rules.all().length);
    await server.directory.register(sandbox);
    return presentSandbox(sandbox, origin);
  } catch (error) {
    if (server.sandboxes.get(sandbox.name) === sandbox) server.sandboxes.delete(sandbox.name);
    throw error;
  }
}

/** @throws Problem 422 for a malformed name, 409 for one in use */
export function freeName(server: ControlServer, name: string): string {
  if (!SANDBOX_NAME.test(name)) {
    throw unprocessable(
      "name",
      name,
      "must be 1 to 63 lower-case letters, digits and hyphens, and begin with a letter or digit",
    );
  }
  if (server.sandboxes.get(name) !== undefined) {
    throw conflict("name-in-use", `There is a sandbox ${name} already`, NAME_ADVICE);
  }
  return name;
}

export function generatedName(server: ControlServer): string {
  for (;;) {
    const name = `sb-${randomBytes(4).toString("hex")}`;
    if (server.sandboxes.get(name) === undefined) return name;
  }
}
