import { addressOf } from "../../address.ts";
import { server } from "../../api/calls.ts";
import { type Operation, operationsOf } from "../../api/open-api.ts";
import type { FindCommands } from "../view.ts";

let document: Promise<readonly Operation[]> | undefined;

/** Operations, which stay the same as long as the page does. */
export const find: FindCommands = async (_typed, sandbox) => {
  document ??= server.openApi().then(operationsOf);
  const operations = await document.catch((error: unknown) => {
    document = undefined;
    throw error;
  });
  return operations.map(({ operationId, method, path }) => ({
    id: `operation ${operationId}`,
    group: "Operations",
    title: operationId,
    detail: `${method} ${path}`,
    to: addressOf(sandbox, "api", { operation: operationId }),
  }));
};
