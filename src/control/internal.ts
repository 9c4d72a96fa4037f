import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "../hosts/node/log.ts";
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

/** Answers every path that begins with `/_` and is not the emulated API's; guards each mount as it asks. */
export function createInternal(parts: { mounts: readonly Mount[]; guard: Guard; log: Log }) {
  return async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    try {
      const mount = parts.mounts.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
      if (mount?.access !== "open") parts.guard.requireAllowedSource(request);
      if (mount === undefined) throw nothingHere(path, parts.mounts);
      if (mount.access !== "open" && preflight(request, response)) return;
      if (mount.access === "token") parts.guard.requireToken(request);
      await mount.handle(request, response, path);
    } catch (error) {
      sendProblem(request, response, asProblem(error) ?? internal(error, parts.log));
    }
  };
}

/** Refuses a browser that calls the emulated API by a foreign name; false for everybody else. */
export function createBrowserGate(guard: Guard) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    try {
      guard.requireAllowedBrowser(request);
      return false;
    } catch (error) {
      sendProblem(request, response, asProblem(error)!);
      return true;
    }
  };
}

function nothingHere(path: string, mounts: readonly Mount[]): Problem {
  return new Problem("unknown-path", {
    detail: `Nothing answers ${path.slice(0, 200)}. Understudy's own paths are ${mounts.map(({ prefix }) => prefix).join(", ")}; emulated paths begin with /v1, /v2 or /webhooks, or with /_s/{sandbox}.`,
  });
}

function internal(error: unknown, log: Log): Problem {
  log.error({ err: error }, "internal error in the control API");
  return new Problem("internal", {
    detail: "An unexpected error occurred. The server's log says more; please report it.",
  });
}
