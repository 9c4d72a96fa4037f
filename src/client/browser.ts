import { delayRequests, refuseSynchronousRequests } from "./delay-requests.ts";
import { requireKnownOptions } from "./options.ts";
import { openPageEngine, toPageSandbox } from "./page-engine.ts";
import { PAGE_START_OPTIONS, type PageSandbox, type PageStart } from "./page-start.ts";
import { DEFAULT_PATHS, PageWorker, type WorkerOptions } from "./page-worker.ts";
import { toPaths } from "./worker-messages.ts";

/** How a page's sandbox begins, and which requests it answers. */
export interface StartOptions extends PageStart {
  /**
   * Requests to these paths and below them are answered by the sandbox; `/v1`, `/v2`, `/webhooks` and `/upload/storage` of the
   * page's origin unless given. Paths of other origins are URLs.
   */
  paths?: readonly string[];
  /** The service worker's address, `/understudy-worker.js` unless given; `understudy worker-file DIR` writes the file. */
  worker?: string;
  /** Whether the worker also stores the page's own files, so that the page opens without a network. */
  offline?: boolean;
  /** The user as whom requests are sent; without one, they keep their own credentials (`actAs`). */
  user?: string;
}

export type { PageSandbox };

/**
 * Runs a sandbox in this page and lets a service worker answer the page's requests from it (interfaces.md 17). Requests that
 * the page makes meanwhile wait.
 * @throws Error if the browser has no service workers, or the worker's file is missing, in another folder or of another
 * version; TypeError for wrong paths
 */
export async function start(options: StartOptions = {}): Promise<PageSandbox> {
  requireKnownOptions("start", options, [...PAGE_START_OPTIONS, "paths", "worker", "offline", "user"]);
  const { paths = DEFAULT_PATHS, worker = "/understudy-worker.js", ...rest } = options;
  const answeredPaths = toPaths(paths);
  const starting = startPage({ paths, worker, ...rest });
  refuseSynchronousRequests(answeredPaths);
  delayRequests(answeredPaths, starting);
  return starting;
}

async function startPage({
  paths,
  worker,
  offline,
  user,
  ...world
}: StartOptions & WorkerOptions): Promise<PageSandbox> {
  const engine = await openPageEngine(world);
  let page: PageWorker | undefined;
  try {
    page = await PageWorker.connect(engine, { paths, worker, offline });
    const sandbox = await toPageSandbox(engine, page);
    sandbox.actAs(user);
    return sandbox;
  } catch (error) {
    page?.leave();
    await engine.close();
    throw error;
  }
}
