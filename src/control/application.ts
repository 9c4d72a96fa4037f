import type { IncomingMessage, ServerResponse } from "node:http";
import type { Express, NextFunction, Request, RequestHandler, Response } from "express";
import { normalizePath } from "../engine/contract/http-url.ts";
import { clip } from "../engine/contract/text.ts";
import { splitTarget } from "../engine/pipeline/plain-http.ts";
import { ExpressServer, type MessageClasses } from "../hosts/node/express-server.ts";
import { NodeRequest, toOriginForm } from "../hosts/node/node-request.ts";
import { answerReceiverRequest } from "../hosts/node/receiver-requests.ts";
import type { SandboxOrigins } from "../hosts/node/sandbox-origins.ts";
import type { Guard, Mount } from "./guard.ts";
import type { Login } from "./login.ts";
import type { ControlServer } from "./operation.ts";
import { asProblem, Problem, toInternalProblem } from "./problem.ts";
import { answerPreflight, sendAnswer, sendProblem } from "./send-answer.ts";

/**
 * The Express application of the product's own paths; loaded with the first request.
 * @param classes Node's classes of requests and responses, which Express extends
 */
export function createApplication(classes: MessageClasses, parts: MountParts): ExpressServer {
  const mounts = createMounts(parts);
  return new ExpressServer(classes, (app) => addMounts(app, mounts, parts));
}

/** Adds mounts to an Express application, each behind the guards of its `access`. */
function addMounts(app: Express, mounts: readonly Mount[], { guard, origins, control }: MountParts): void {
  app.enable("case sensitive routing");
  const toHandler =
    (requireAllowed: (request: Request) => void): RequestHandler =>
    (request, _response, next) => {
      requireAllowed(request);
      next();
    };
  const requireSource = toHandler((request) => guard.requireAllowedSource(request));
  const requireSandboxOfPort = toHandler((request) => {
    const portSandbox = origins.findSandbox(request.socket);
    if (portSandbox !== undefined) requirePathOfSandbox(portSandbox, readPath(request));
  });
  const requireToken = toHandler((request) => guard.requireToken(request));
  const answerPreflights: RequestHandler = (request, response, next) => {
    if (!answerPreflight(request, response)) next();
  };
  const GUARDS = {
    open: [requireSandboxOfPort],
    source: [requireSource, requireSandboxOfPort, answerPreflights],
    token: [requireSource, requireSandboxOfPort, answerPreflights, requireToken],
  };
  for (const { prefix, access, handle } of mounts) {
    const answer: RequestHandler = (request, response) => {
      // Express removes the prefix; handlers and other nodes of a fleet need the original target.
      request.url = request.originalUrl;
      return handle(request, response, readPath(request));
    };
    app.use(prefix, ...GUARDS[access], answer);
  }
  app.use(requireSource, (request) => {
    throw createUnknownPathProblem(readPath(request), mounts);
  });
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    sendProblem(request, response, asProblem(error) ?? toInternalProblem(error, control.log)),
  );
}

function readPath({ originalUrl }: Request): string {
  return splitTarget(toOriginForm(originalUrl)).path;
}

/** Creates a function that refuses a browser's request whose Host is not allowed, and returns whether it did. */
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

/** Refuses calls for other sandboxes at the port of one sandbox (interfaces.md 16). @throws Problem 421 */
function requirePathOfSandbox(portSandbox: string, path: string): void {
  const [, name] = /^\/_(?:control\/sandboxes|receivers)\/([^/]+)/.exec(normalizePath(path)) ?? [];
  if (name === portSandbox || path === "/_control/health") return;
  throw new Problem("misdirected", {
    detail: `This port serves the sandbox ${portSandbox} alone: its emulated API, /_control/sandboxes/${portSandbox} and /_control/health. For everything else, call the server at the address that it printed.`,
    value: clip(path, 200),
    hint: portSandbox,
  });
}

function createUnknownPathProblem(path: string, mounts: readonly Mount[]): Problem {
  return new Problem("unknown-path", {
    detail: `Nothing answers ${path.slice(0, 200)}. Understudy's own paths are ${mounts.map(({ prefix }) => prefix).join(", ")}; emulated paths begin with /v1, /v2 or /webhooks, or with /_s/{sandbox}.`,
  });
}

/** A handler whose code is loaded with its first request, so that the server's start does not pay for it. */
function mountLazily(load: () => Promise<Mount["handle"]>): Mount["handle"] {
  let loading: Promise<Mount["handle"]> | undefined;
  return async (...args) => {
    loading ??= load();
    await (await loading)(...args);
  };
}

interface MountParts {
  guard: Guard;
  origins: SandboxOrigins;
  control: ControlServer;
  login: Login | undefined;
  /** Loads the MCP server; undefined if the program that assembles this server has none. */
  mcp: (() => Promise<Mount["handle"]>) | undefined;
  /** In a fleet: the node that owns the sandbox handles the calls below a prefix. */
  atOwner: (prefix: string, handle: Mount["handle"]) => Mount["handle"];
}

/** The product's own paths. */
function createMounts({ control, login, mcp, atOwner }: MountParts): Mount[] {
  const controlApi = mountLazily(async () => {
    const handle = (await import("./handle-control.ts")).createControl(control);
    return async (request, response) => {
      // Undefined if the client has left.
      const answer = await handle(new NodeRequest(request, response, control.sites));
      if (answer !== undefined) await sendAnswer(request, response, answer);
    };
  });
  const consolePages = mountLazily(async () => (await import("./console-mount.ts")).handleConsole);
  const handleReceivers: Mount["handle"] = (request, response, path) =>
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
    { prefix: "/_receivers", access: "open", handle: atOwner("/_receivers/", handleReceivers) },
    { prefix: "/_console", access: "source", handle: consolePages },
  ];
  // Before the shorter prefixes, which would match first.
  if (login !== undefined)
    mounts.unshift({ prefix: "/_console/login", access: "source", handle: login.handle });
  if (mcp !== undefined)
    mounts.unshift({ prefix: "/_control/mcp", access: "token", handle: mountLazily(mcp) });
  return mounts;
}
