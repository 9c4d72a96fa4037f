import type { IncomingMessage, ServerResponse } from "node:http";
import { handleRequest } from "../../engine/pipeline/engine.ts";
import type { EngineParts } from "../../engine/pipeline/engine-parts.ts";
import { readAddress } from "../../engine/pipeline/plain-http.ts";
import { handleTogether } from "./batches.ts";
import type { ExpressServer } from "./express-server.ts";
import type { FindSandbox } from "./hooks.ts";
import type { NodeNetwork } from "./node-network.ts";
import { NodeRequest } from "./node-request.ts";
import { refuseBadHostOrCoding } from "./refuse-unreadable.ts";
import { sendCompleteAnswer } from "./send.ts";

interface RequestParts {
  engine: EngineParts;
  findSandbox: FindSandbox;
  /** Refuses a browser that uses a foreign name for this server; false for any other client. */
  refuseForeignHost: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The product's own paths: control API, console, receivers. */
  application: ExpressServer;
}

/** Makes a server answer requests; the emulated API directly, since Express would take a quarter of the time of a small request. */
export function answerRequests(network: NodeNetwork, parts: RequestParts): void {
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // The previous answer ended the connection.
    if (request.socket.writableEnded) return;
    answerRequest(network, parts, request, response).catch((err) => {
      // A defect outside the engine's own error handling ends one connection, not the process.
      parts.engine.log.error({ err }, "a request could not be answered");
      response.destroy();
    });
  };
  network.server.on("request", handleTogether(handle));
}

async function answerRequest(
  { sites, wireBreaker }: NodeNetwork,
  { engine, findSandbox, refuseForeignHost, application }: RequestParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (refuseBadHostOrCoding(request, response)) return;
  const nodeRequest = new NodeRequest(request, response, sites);
  // The product's own paths begin with `/_`, except for the prefix of a sandbox.
  if (nodeRequest.target.startsWith("/_") && !nodeRequest.target.startsWith("/_s/"))
    return application.handle(request, response);
  if (refuseForeignHost(request, response)) return;
  const address = readAddress(nodeRequest);
  const lookup = findSandbox(address.sandbox, { request, response });
  const sandbox = lookup instanceof Promise ? await lookup : lookup;
  if (sandbox === "answered") return;
  const answer = await handleRequest(engine, nodeRequest, { sandbox, address });
  // The client left.
  if (answer === undefined) return;
  if (answer.wire !== undefined) await wireBreaker.send(request, response, answer);
  else await sendCompleteAnswer(request, response, answer);
}
