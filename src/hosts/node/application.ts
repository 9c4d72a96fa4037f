import type { IncomingMessage, ServerResponse } from "node:http";
import type { Express } from "express";

/** The request and response classes of the server that the application sits on. */
export interface ServerClasses {
  Req: { prototype: IncomingMessage };
  Res: { prototype: ServerResponse };
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * The Express application, for the product's own paths: control API, console, receivers. It is loaded when
 * the first of them is asked for, because loading it takes longer than starting everything else.
 *
 * Express swaps the prototypes of each request and response for its own, and V8 on Node 20 and 22 then
 * throws its optimised code away. The server's classes are given Express's prototypes once instead, so that
 * the swap changes nothing; docs/decisions/0003 has the figures.
 */
export function expressApplication({ Req, Res }: ServerClasses, handle: Handler): Handler {
  let loading: Promise<Express> | undefined;
  return async (request, response) => {
    loading ??= load({ Req, Res }, handle);
    const app = await loading;
    app(request as never, response as never);
  };
}

async function load({ Req, Res }: ServerClasses, handle: Handler): Promise<Express> {
  const { default: express } = await import("express");
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  Object.setPrototypeOf(Req.prototype, express.request);
  Object.setPrototypeOf(Res.prototype, express.response);
  Object.assign(app, { request: Req.prototype, response: Res.prototype });
  // Express's own methods look the application up on the request.
  Object.defineProperty(Req.prototype, "app", { value: app });
  Object.defineProperty(Res.prototype, "app", { value: app });
  app.use((request, response) => handle(request, response));
  return app;
}
