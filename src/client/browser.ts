import { holdRequests } from "./hold-requests.ts";
import { requireKnownOptions } from "./options.ts";
import { openPageEngine, openSandbox } from "./page-engine.ts";
import { PAGE_START, type PageStart } from "./page-start.ts";
import { PageWorker, type WorkerOptions } from "./page-worker.ts";
import type { SandboxClient } from "./sandbox.ts";

/** How a page's sandbox begins, and which requests it answers. */
export interface StartOptions extends PageStart {
  /** Requests to these paths of the page's origin are answered by the sandbox; `/v1`, `/v2` and `/webhooks` unless given. */
  paths?: readonly string[];
  /** The service worker's address, `/understudy-worker.js` unless given; `understudy worker-file DIR` writes the file. */
  worker?: string;
  /** As `actAs`. */
  user?: string;
}

export const API_PATHS = ["/v1", "/v2", "/webhooks"];

export interface PageSandbox extends SandboxClient {
  /** The user whose API key the page's requests are sent with; undefined if they have their own. */
  readonly user: string | undefined;
  /** The console of this sandbox, if `understudy worker-file --console` has written its files. */
  readonly consoleUrl: string;
  /** From now on the page's requests are sent as this user, whatever their credentials; without one, as they are. */
  actAs(user: string | undefined): void;
  /** Ends the sandbox; requests reach the network again after the next load. */
  stop(): Promise<void>;
}

/**
 * Runs a sandbox in this page and lets a service worker answer the page's requests from it (interfaces 17). Requests that
 * the page makes meanwhile wait.
 * @throws Error if the browser has no service workers, or the worker's file is missing or of another version
 */
export async function start(options: StartOptions = {}): Promise<PageSandbox> {
  requireKnownOptions("start", options, [...PAGE_START, "paths", "worker", "user"]);
  const { paths = API_PATHS, worker = "/understudy-worker.js", ...rest } = options;
  const started = startPage({ paths, worker, ...rest });
  holdRequests(paths, started);
  return started;
}

async function startPage({
  paths,
  worker,
  user,
  ...world
}: StartOptions & WorkerOptions): Promise<PageSandbox> {
  const engine = await openPageEngine(world);
  try {
    const page = await PageWorker.connect(engine, { paths, worker });
    const sandbox = Object.assign(await openSandbox(engine), {
      user: undefined as string | undefined,
      consoleUrl: `/_console/s/default/timeline?page=${page.client}`,
      actAs(name: string | undefined) {
        page.key = name === undefined ? undefined : sandbox.credentials[name as "usr_dan"];
        sandbox.user = name;
      },
      async stop() {
        await engine.close();
        await page.unregister();
      },
    });
    sandbox.actAs(user);
    return sandbox;
  } catch (error) {
    await engine.close();
    throw error;
  }
}
