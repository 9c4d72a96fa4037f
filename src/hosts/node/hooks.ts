import type { IncomingMessage, ServerResponse } from "node:http";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";

/** A request on its connection, which another node may answer. */
export interface Connection {
  request: IncomingMessage;
  response: ServerResponse;
}

/** A sandbox; undefined if none has the name; `answered` if another node has answered the request. */
export type SandboxLookup = Sandbox | undefined | "answered";

/**
 * Called for each request that names a sandbox: of the emulated API, of the control API below
 * `/_control/sandboxes/NAME`, and of receivers. In a fleet another node may own the sandbox (interfaces.md 15): it answers
 * the request; without a connection, the sandbox is undefined.
 * @throws StoreRefusal if no node can serve it now
 */
export type FindSandbox = (name: string, connection?: Connection) => SandboxLookup | Promise<SandboxLookup>;

/** Delays an answer until the changes that it reports are stored (interfaces.md 2, `--durable`, and 15). */
export interface DurabilityHook {
  /** How many changes the store has refused so far; called before anything changes, for `waitUntilStored`. */
  countRefusals(): number;
  /**
   * Waits until all changes so far are stored; undefined if they are already.
   * @param sandbox undefined for a control call that names none
   * @param call `changesOthers`: the call may have changed another sandbox too
   * @param refusalsBefore `countRefusals()` before the change
   * @throws StoreRefusal if a change was refused, and undone, since then
   */
  waitUntilStored(
    sandbox: Sandbox | undefined,
    refusalsBefore: number,
    call: { changesOthers: boolean },
  ): undefined | Promise<void>;
}
