import type { Mount } from "./internal.ts";
import type { ControlServer } from "./operation.ts";

/** Loaded at the first call: the server's start must not pay for its declarations. */
export function controlOf(server: ControlServer): Mount["handle"] {
  let loading: Promise<Mount["handle"]> | undefined;
  const load = async () => {
    const { createControl } = await import("./handle-control.ts");
    return createControl(server);
  };
  return async (...exchange) => {
    loading ??= load();
    await (await loading)(...exchange);
  };
}

/** Loaded when somebody looks at it: the server's start must not pay for its files. */
export const showConsole: Mount["handle"] = async (...exchange) => {
  const { handleConsole } = await import("./console-mount.ts");
  await handleConsole(...exchange);
};
