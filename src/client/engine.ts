import type { OnDelivery } from "../hosts/fetch/answer-deliveries.ts";
import { createLocal } from "./local-understudy.ts";
import { requireKnownOptions } from "./options.ts";
import type { SandboxClient } from "./sandbox.ts";
import { type SandboxStart, START_OPTIONS } from "./sandbox-start.ts";

/** A sandbox without a server (interfaces.md 17). */
export interface LocalSandbox extends SandboxClient {
  /** Ends its streams and timers, and removes the uploaded bytes. */
  close(): Promise<void>;
}

export interface EngineOptions extends SandboxStart {
  /** In pages: the name under which the browser stores the world, as for `start` of `understudy-sandbox/browser`. */
  persist?: string;
  /**
   * Takes each webhook that leaves the sandbox, instead of the network. Answer with a `Response`; anything else counts as
   * 204, a rejection as a connection that broke.
   */
  onDelivery?: OnDelivery;
}

/**
 * A sandbox in this process: no server, no port, no thread (interfaces.md 17). Its `fetch` rejects as the global one does:
 * with a TypeError if a fault breaks the connection, with the signal's reason if you abort.
 * @throws DocumentError if the fixture is unknown or wrong, Problem if a setting is, TypeError for unknown options or a wrong `onDelivery`
 */
export async function createSandbox(options: EngineOptions = {}): Promise<LocalSandbox> {
  if (options?.persist !== undefined)
    throw new TypeError(
      "createSandbox has the option persist in pages only; in Node, createUnderstudy({ persist: { folder } }) stores worlds",
    );
  requireKnownOptions("createSandbox", options, [...START_OPTIONS, "onDelivery"]);
  const engine = await createLocal(options);
  return Object.assign(await engine.open("default"), { close: engine.close });
}
