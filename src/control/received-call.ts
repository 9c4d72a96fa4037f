import type { IncomingMessage, ServerResponse } from "node:http";
import type { Act } from "../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { ControlCall, ControlServer } from "./operation.ts";

/** A control call as its handler sees it; each step of handle-control.ts fills in what it read. */
export class ReceivedControlCall implements ControlCall {
  readonly server: ControlServer;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: ControlCall["headers"];
  /** Only operations below S read it, and those have it. */
  readonly sandbox: Sandbox;
  query: unknown = undefined;
  body: unknown = undefined;
  /** What it is in the history, where it may change a world. */
  act: Act | undefined = undefined;
  private readonly response: ServerResponse;

  constructor(
    server: ControlServer,
    { request, response }: { request: IncomingMessage; response: ServerResponse },
    { params, sandbox }: { params: Readonly<Record<string, string>>; sandbox: Sandbox | undefined },
  ) {
    this.server = server;
    this.params = params;
    this.headers = request.headers as ControlCall["headers"];
    this.sandbox = sandbox as Sandbox;
    this.response = response;
  }

  get origin(): string {
    return `http://${this.headers["host"]}`;
  }

  /** Few calls wait for anything, and a controller costs as much as a small answer. */
  get signal(): AbortSignal {
    const gone = new AbortController();
    if (this.response.destroyed) gone.abort();
    else this.response.once("close", () => gone.abort());
    return gone.signal;
  }
}
