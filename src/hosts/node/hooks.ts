import type { IncomingMessage, ServerResponse } from "node:http";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";

/** A request on its connection, which another node may answer. */
export interface Connection {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The sandbox; undefined if there is none of that name; `answered` if another node has answered the request. */
export type FoundSandbox = Sandbox | undefined | "answered";

/**
 * The places where a fleet takes part in a server (interfaces 15). Only the composition root knows that there is a
 * fleet; a server that runs alone fills the same hooks with its own registry, or leaves them out.
 */
export interface HostHooks {
  /**
   * Called for each request that names a sandbox: of the emulated API, of the control API below
   * `/_control/sandboxes/NAME`, and of receivers. Without a connection, a sandbox that another node owns is undefined.
   * @throws StoreRefusal if no node can serve it now
   */
  findSandbox: (name: string, connection?: Connection) => FoundSandbox | Promise<FoundSandbox>;
  /** Absent where answers need not wait for anything. */
  beforeAnswer?: BeforeAnswer | undefined;
}

/** Holds an answer back until the changes that it reports are stored (interfaces 2, `--durable`, and 15). */
export interface BeforeAnswer {
  /** Called before anything changes; `settled` takes what it returns. */
  mark(): number;
  /**
   * Undefined if all is stored already.
   * @param sandbox undefined for a control call that names none
   * @param reads whether the call left everything as it was
   * @throws StoreRefusal if a change after the mark was undone instead
   */
  settled(sandbox: Sandbox | undefined, mark: number, reads: boolean): undefined | Promise<void>;
}
