import { addressOf } from "../../address.ts";
import { server } from "../../api/calls.ts";
import type { FindCommands } from "../view.ts";

/** The other sandboxes. */
export const find: FindCommands = async (_typed, sandbox) => {
  const { items } = await server.sandboxes();
  return items
    .filter(({ name }) => name !== sandbox)
    .map(({ name, fixture, clock }) => ({
      id: `sandbox ${name}`,
      group: "Sandboxes",
      title: name,
      detail: `${fixture}, ${clock.mode}`,
      to: addressOf(name, "timeline"),
    }));
};
