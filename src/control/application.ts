import type { IncomingMessage, ServerResponse } from "node:http";
import type { Express, NextFunction, Request, RequestHandler, Response } from "express";
import { splitTarget } from "../engine/pipeline/plain-http.ts";
import type { Log } from "../hosts/node/log.ts";
import { originForm } from "../hosts/node/node-request.ts";
import { preflight } from "./cors.ts";
import type { Guard } from "./guard.ts";
import { asProblem, Problem } from "./problem.ts";
import { sendProblem } from "./send-answer.ts";

/** Something of the product's own that answers below a prefix beginning with `/_`. */
export interface Mount {
  /** Such as `/_console`; answers that path and everything below it. */
  prefix: string;
  /**
   * `token`: allowed sources only, and the control token in shared mode. `source`: allowed sources only (static
   * pages hold no secret). `open`: anyone, as for receivers, which play a partner's endpoint.
   */
  access: "token" | "source" | "open";
  handle: (request: IncomingMessage, response: ServerResponse, path: string) => void | Promise<void>;
}

/** Adds the product's own paths to an Express application, each guarded as it asks. */
export function addMounts(
  app: Express,
  { mounts, guard, log }: { mounts: readonly Mount[]; guard: Guard; log: Log },
): void {
  app.enable("case sensitive routing");
  const requireSource: RequestHandler = (request, _response, next) => {
    guard.requireAllowedSource(request);
    next();
  };
  const answerPreflight: RequestHandler = (request, response, next) => {
    if (!preflight(request, response)) next();
  };
  const requireToken: RequestHandler = (request, _response, next) => {
    guard.requireToken(request);
    next();
  };
  const GUARDS = {
    open: [],
    source: [requireSource, answerPreflight],
    token: [requireSource, answerPreflight, requireToken],
  };
  for (const { prefix, access, handle } of mounts) {
    const answer: RequestHandler = (request, response) => {
      // Express cuts the prefix off; handlers, and other nodes of a fleet, are given the target as it was sent.
      request.url = request.originalUrl;
      return handle(request, response, splitTarget(originForm(request.url)).path);
    };
    app.use(prefix, ...GUARDS[access], answer);
  }
  app.use(requireSource, (request) => {
    throw nothingHere(splitTarget(originForm(request.originalUrl)).path, mounts);
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    sendProblem(request, response, asProblem(error) ?? internalProblem(error, log)),
  );
}

/** Refuses a browser that calls the emulated API by a foreign name; false for any other client. */
export function createBrowserGate(guard: Guard) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    try {
      guard.requireAllowedBrowser(request);
      return false;
    } catch (error) {
      void sendProblem(request, response, asProblem(error)!);
      return true;
    }
  };
}

function nothingHere(path: string, mounts: readonly Mount[]): Problem {
  return new Problem("unknown-path", {
    detail: `Nothing answers ${path.slice(0, 200)}. Understudy's own paths are ${mounts.map(({ prefix }) => prefix).join(", ")}; emulated paths begin with /v1, /v2 or /webhooks, or with /_s/{sandbox}.`,
  });
}

function internalProblem(error: unknown, log: Log): Problem {
  log.error({ err: error }, "internal error in the control API");
  return new Problem("internal", {
    detail: "An unexpected error occurred. The server's log says more; please report it.",
  });
}

/** A mount whose code is loaded with its first request, so that the server's start does not pay for it. */
export function lazyMount(load: () => Promise<Mount["handle"]>): Mount["handle"] {
  let loading: Promise<Mount["handle"]> | undefined;
  return async (...exchange) => {
    loading ??= load();
    await (await loading)(...exchange);
  };
}
