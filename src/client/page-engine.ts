import type { BrowserEngine } from "../browser.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { UnderstudyClient } from "./connect.ts";
import { ControlHttp } from "./http.ts";
import type { PageSandbox, PageStart } from "./page-start.ts";
import type { PageWorker } from "./page-worker.ts";
import { requireKey, SandboxClient, toCredentials } from "./sandbox.ts";
import { shareWorld } from "./shared-world.ts";
import { createTransport, followRedirects, refuseAfterClose } from "./transport.ts";
import type { SandboxState } from "./types.ts";

/** Loads the engine and opens the world, or joins another tab that has it. @throws Problem, DocumentError, Error */
export async function openPageEngine({ persist, ...world }: PageStart): Promise<BrowserEngine> {
  const { assembleBrowserEngine } = await import("../browser.ts");
  requireEval();
  if (persist === undefined) return refuseAfterClose(await assembleBrowserEngine(world));
  if (typeof persist !== "string" || persist === "")
    throw new TypeError(`persist is the name of a world, not ${JSON.stringify(persist)}`);
  // A page without locks cannot store a world, so its world lasts until the page is left.
  const shared = await shareWorld(persist, ({ isStored }) =>
    assembleBrowserEngine(isStored ? { ...world, persist } : world),
  );
  const engine = refuseAfterClose(shared);
  // Saves the latest changes when the page is hidden or left.
  (globalThis as unknown as EventTarget).addEventListener("visibilitychange", () => void engine.save());
  return engine;
}

/** The engine compiles its schemas. @throws Error if the page's policy forbids that */
function requireEval(): void {
  try {
    new Function("return true")();
  } catch (cause) {
    throw new Error(
      "This page's Content-Security-Policy forbids what the sandbox needs to check requests: add 'unsafe-eval' to its script-src, without require-trusted-types-for, where you start a sandbox",
      { cause },
    );
  }
}

/** A client of the control API of an engine. */
export function connectToEngine({ fetch }: Pick<BrowserEngine, "fetch">): UnderstudyClient {
  const senders = { transport: createTransport(fetch), fetch: followRedirects(fetch) };
  return new UnderstudyClient(new ControlHttp(IN_PROCESS_ORIGIN, undefined, senders));
}

export async function openSandbox(engine: BrowserEngine): Promise<SandboxClient> {
  const client = connectToEngine(engine);
  // This tab forwards to the engine of another.
  if (engine.listValidKeys === undefined) return client.open("default");
  const state = { name: "default", base_url: IN_PROCESS_ORIGIN, origin: null } as SandboxState;
  return new SandboxClient(client.http, state, toCredentials(engine.listValidKeys()));
}

export async function toPageSandbox(engine: BrowserEngine, page: PageWorker): Promise<PageSandbox> {
  const sandbox = Object.assign(await openSandbox(engine), {
    user: undefined as string | undefined,
    // The console's files are beside the worker's.
    consoleUrl: new URL(`_console/s/default/timeline?page=${page.clientId}`, page.url).href,
    actAs(name: string | undefined) {
      page.key = name === undefined ? undefined : requireKey(sandbox.credentials, name);
      sandbox.user = name;
    },
    async stop() {
      await page.stop();
      await engine.close();
    },
  });
  return sandbox;
}
