import { answerReceiverRequest } from "../hosts/node/receiver-requests.ts";
import { lazyMount, type Mount } from "./application.ts";
import type { Login } from "./login.ts";
import type { ControlServer } from "./operation.ts";

export interface MountParts {
  control: ControlServer;
  login: Login | undefined;
  /** Loads the MCP server, if the program that started this one has it. */
  mcp: (() => Promise<Mount["handle"]>) | undefined;
  /** In a fleet: handles the calls below a prefix at the node that owns their sandbox. */
  atOwner: (prefix: string, handle: Mount["handle"]) => Mount["handle"];
}

/** The product's own paths. */
export function createMounts({ control, login, mcp, atOwner }: MountParts): Mount[] {
  const controlApi = lazyMount(async () => (await import("./handle-control.ts")).createControl(control));
  const console = lazyMount(async () => (await import("./console-mount.ts")).handleConsole);
  const receivers: Mount["handle"] = (request, response, path) =>
    answerReceiverRequest(request, response, {
      path,
      handle: (plain) => control.receivers.handle(plain),
    });
  const mounts: Mount[] = [
    {
      prefix: "/_control",
      access: "token",
      handle: atOwner("/_control/sandboxes/", controlApi),
    },
    { prefix: "/_receivers", access: "open", handle: atOwner("/_receivers/", receivers) },
    { prefix: "/_console", access: "source", handle: console },
  ];
  // Before the prefixes that they are part of.
  if (login !== undefined)
    mounts.unshift({ prefix: "/_console/login", access: "source", handle: login.handle });
  if (mcp !== undefined) mounts.unshift({ prefix: "/_control/mcp", access: "token", handle: lazyMount(mcp) });
  return mounts;
}
