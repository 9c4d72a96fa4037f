import type { Understudy } from "../control/understudy-options.ts";
import { assembleLocal } from "./local-understudy.ts";
import { requireKnownOptions } from "./options.ts";
import { readOwnOperations } from "./own-documents.ts";
import { type SandboxStart, START_OPTIONS } from "./sandbox-start.ts";
import { startOnce } from "./start-once.ts";

export interface RoutesOptions extends SandboxStart {
  /** The path at which your application mounts the routes, such as `/api`; the API's own paths follow it. */
  basePath?: string;
  /** Whether `/_control` below the base path answers: anyone who reaches the routes can change the sandbox then. */
  control?: boolean;
}

const ENGINES = Symbol.for("understudy.engines");
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** The handler of web-standard requests under the name of each method, as Next.js takes it; it is the same for all. */
export type Routes = Record<(typeof METHODS)[number], (request: Request) => Promise<Response>>;

/** Frameworks load a route's module again after each change, and once for each route; the sandbox stays. */
const shared = globalThis as { [ENGINES]?: Map<string, Promise<Understudy>> };
shared[ENGINES] ??= new Map();
const engines = shared[ENGINES];

/**
 * Route handlers that answer from a sandbox in this process (interfaces.md 17). The sandbox begins with the first request
 * and lives as long as the process.
 * @throws TypeError for unknown options and an invalid base path; DocumentError, Problem with the first request
 */
export function understudyRoutes(options: RoutesOptions = {}): Routes {
  requireKnownOptions("understudyRoutes", options, [...START_OPTIONS, "basePath", "control"]);
  const { basePath: path = "", control = false, ...start } = options;
  if (typeof path !== "string" || !/^(\/[^/?#]+)*$/.test(path))
    throw new TypeError(`understudyRoutes: basePath is a path such as "/api", not ${JSON.stringify(path)}`);
  if (typeof control !== "boolean")
    throw new TypeError(`understudyRoutes: control is true or false, not ${JSON.stringify(control)}`);
  // Percent-encoded, as in the URLs of requests.
  const basePath = new URL(`http://localhost${path}`).pathname.replace(/\/$/, "");
  const join = startOnce(() => joinEngine(start));
  const handle = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const target = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
    // Paths below `/_` are Understudy's own, except those of the API in a named sandbox: `/_s/NAME/v1`.
    if (!control && /^\/_(?!s\/)|^\/_s\/[^/]*\/_/.test(target)) return refuseControl();
    const engine = await join();
    return engine.fetch(request, basePath);
  };
  return Object.fromEntries(METHODS.map((method) => [method, handle])) as Routes;
}

/** The engine of all routes with these options. */
async function joinEngine(start: SandboxStart): Promise<Understudy> {
  const key = JSON.stringify(start);
  const running = engines.get(key);
  if (running === undefined) {
    const started = assembleLocal(start);
    engines.set(key, started);
    started.catch(() => engines.delete(key));
    return started;
  }
  const engine = await running;
  // The key does not contain the code of handlers and the contents of files.
  engine.setOperations(await readOwnOperations(start));
  return engine;
}

function refuseControl(): Response {
  const detail = "These routes serve no control API. Pass `control: true` to understudyRoutes to open it.";
  return Response.json({ title: "Not Found", status: 404, detail }, { status: 404 });
}
