import type { IncomingMessage, ServerResponse } from "node:http";
import type { Express } from "express";

/** The request and response classes of one server. */
export interface MessageClasses {
  Req: typeof IncomingMessage;
  Res: typeof ServerResponse;
}

/**
 * The Express application of the product's own paths: control API, console, receivers. It is loaded with the first
 * request to one of them, because that takes longer than the rest of the start.
 *
 * Express swaps the prototypes of each request and response for its own, and V8 on Node 20 and 22 then discards
 * optimised code. The server's classes get Express's prototypes once instead, so that the swap changes nothing;
 * docs/decisions/0003 has the figures.
 */
export class ExpressServer {
  private readonly classes: MessageClasses;
  private readonly build: (app: Express) => void;
  private loading: Promise<Express> | undefined;

  /** @param build adds the routes */
  constructor(classes: MessageClasses, build: (app: Express) => void) {
    this.classes = classes;
    this.build = build;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.loading ??= this.load();
    const app = await this.loading;
    app(request as never, response as never);
  }

  private async load(): Promise<Express> {
    const { default: express } = await import("express");
    const { Req, Res } = this.classes;
    const app = express();
    app.disable("x-powered-by");
    app.disable("etag");
    Object.setPrototypeOf(Req.prototype, express.request);
    Object.setPrototypeOf(Res.prototype, express.response);
    Object.assign(app, { request: Req.prototype, response: Res.prototype });
    // Express's own methods look the application up on the request.
    Object.defineProperty(Req.prototype, "app", { value: app });
    Object.defineProperty(Res.prototype, "app", { value: app });
    this.build(app);
    return app;
  }
}
