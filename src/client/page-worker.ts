import manifest from "../../package.json" with { type: "json" };
import type { BrowserEngine } from "../browser.ts";
import { answerForwarded } from "./answer-forwarded.ts";
import { API_PATHS, UPLOAD_PATH } from "./options.ts";
import {
  createChannel,
  type ForwardedRequest,
  isBelow,
  type Port,
  REPLACEMENTS,
  toPaths,
  type WorkerVersion,
} from "./worker-messages.ts";

/* The parts of service workers that are used here; the types of browsers are not among this project's. */
interface Worker extends Pick<Port, "postMessage"> {
  scriptURL: string;
  state: string;
  addEventListener(type: "statechange", listener: () => void): void;
}
interface Registration {
  active: Worker | null;
  installing: Worker | null;
  waiting: Worker | null;
  update(): Promise<unknown>;
  unregister(): Promise<boolean>;
}
interface ServiceWorkers {
  controller: Worker | null;
  register(url: string, options: { updateViaCache: "none" }): Promise<Registration>;
  addEventListener(type: string, listener: (event: { data: unknown }) => void): void;
}

export const DEFAULT_PATHS = [...API_PATHS, UPLOAD_PATH];

export interface WorkerOptions {
  paths: readonly string[];
  worker: string;
  offline?: boolean;
}

const WORKER_TIMEOUT_MS = 5_000;

/**
 * The newest `PageWorker`, whose engine answers the page's requests: a page may start its sandbox again, for example after
 * an update of one of its modules. Undefined once the sandbox was stopped.
 */
let currentPage: PageWorker | undefined;

/** A page's connection to its service worker, which passes the page's requests to its engine. */
export class PageWorker {
  /** Answers the page's requests; a story that needs another sandbox replaces it. */
  engine: Pick<BrowserEngine, "fetch">;
  /** The API key that requests are sent with, in place of their own credentials. */
  key: string | undefined;
  /** This page's id among the worker's clients. */
  clientId = "";
  readonly url: string;
  private readonly workers: ServiceWorkers;
  private readonly registration: Registration;

  private constructor(
    engine: Pick<BrowserEngine, "fetch">,
    workers: ServiceWorkers,
    registration: Registration,
    url: string,
  ) {
    this.url = url;
    this.engine = engine;
    this.workers = workers;
    this.registration = registration;
  }

  /**
   * Registers the worker, and waits until it answers this page's requests. One of another version, or for other paths,
   * is replaced.
   * @throws Error if the browser has no service workers, or the file is missing, in another folder, not Understudy's
   * or of another version; TypeError for wrong paths
   */
  static async connect(
    engine: Pick<BrowserEngine, "fetch">,
    { paths, worker, offline = false }: WorkerOptions,
  ): Promise<PageWorker> {
    const { navigator, location } = globalThis as {
      navigator?: { serviceWorker?: ServiceWorkers };
      location?: { href: string };
    };
    const workers = navigator?.serviceWorker;
    if (workers === undefined)
      throw new Error(
        "This page has no service workers: open it by https:// or on localhost, not in a private window",
      );
    const url = new URL(worker, location!.href);
    for (const path of toPaths(paths)) url.searchParams.append("path", path);
    if (offline) url.searchParams.set("offline", "");
    const { href: folder } = new URL(".", url);
    if (!location!.href.startsWith(folder))
      throw new Error(
        `The service worker ${worker} controls only pages below ${folder}, and so not this one; write its file into this page's folder or one above it`,
      );
    const registration = await workers.register(url.href, { updateViaCache: "none" }).catch((cause) => {
      throw new Error(
        `The service worker ${worker} cannot be loaded; write its file with: npx understudy worker-file DIR`,
        { cause },
      );
    });
    const page = new PageWorker(engine, workers, registration, url.href);
    workers.addEventListener("message", ({ data }) => {
      if ((data as { type?: string } | null)?.type === "understudy:who") void page.introduce();
    });
    const previous = currentPage;
    currentPage = page;
    try {
      await page.requireVersion();
    } catch (error) {
      currentPage = previous;
      throw error;
    }
    workers.addEventListener("controllerchange", () => page.warnIfReplaced());
    if (offline) await storeFiles(location!.href, toPaths(paths));
    return page;
  }

  /** From now on the page's requests fail, unless the page has started its sandbox again. */
  leave(): void {
    if (currentPage === this) currentPage = undefined;
  }

  /** Leaves, and unregisters the worker: after the next load, requests reach the network. */
  async stop(): Promise<void> {
    if (currentPage !== this) return;
    this.leave();
    await this.registration.unregister();
  }

  /** A page has one service worker: the one that was registered last for its folder. */
  private warnIfReplaced(): void {
    const { scriptURL = "no service worker" } = this.workers.controller ?? {};
    if (currentPage === this && scriptURL !== this.url)
      console.warn(
        `The sandbox no longer answers all requests of this page: ${scriptURL} has replaced its service worker ${this.url}. Register no other service worker for this folder in pages that start a sandbox.`,
      );
  }

  /** @throws Error if the worker is not Understudy's or of another version, also after an update */
  private async requireVersion(): Promise<void> {
    await this.waitUntilActive();
    let version = await this.introduce();
    if (version !== undefined && version !== manifest.version) {
      // The file may have been replaced since the browser stored it.
      await this.registration.update().catch(() => {});
      await this.waitUntilActive();
      version = await this.introduce();
    }
    if (version === manifest.version) return;
    const mismatch =
      version === undefined
        ? "is not Understudy's"
        : `is of version ${version}, this page of ${manifest.version}`;
    throw new Error(
      `The service worker ${mismatch}; write its file again with: npx understudy worker-file DIR`,
    );
  }

  /** Waits until the newest worker is active, and is the one of this page. */
  private async waitUntilActive(): Promise<void> {
    const { registration, workers, url } = this;
    const next = registration.installing ?? registration.waiting;
    const channel = new BroadcastChannel(REPLACEMENTS);
    if (next !== null)
      await new Promise<void>((resolve) => {
        const follow = () => {
          // The browser activates it once the former worker has no open answers, such as streams: that one breaks them now.
          if (next.state === "installed") channel.postMessage(registration.active?.scriptURL);
          if (["activated", "redundant"].includes(next.state)) resolve();
        };
        follow();
        next.addEventListener("statechange", follow);
      });
    channel.close();
    const isControlled = () =>
      workers.controller?.scriptURL === url && workers.controller === registration.active;
    if (isControlled()) return;
    await new Promise<void>((resolve, reject) => {
      workers.addEventListener("controllerchange", () => isControlled() && resolve());
      // A new worker claims its pages by itself, but not after a reload that bypasses it, as with Ctrl-Shift-R.
      registration.active?.postMessage({ type: "understudy:claim" });
      const message =
        "The service worker does not control this page: reload it. If that does not help, write the worker's file again with: npx understudy worker-file DIR";
      setTimeout(() => reject(new Error(message)), WORKER_TIMEOUT_MS);
    });
  }

  /** Gives the worker a port to this page. Resolves with its version, or undefined if it does not answer. */
  private introduce(): Promise<string | undefined> {
    const [ownPort, workerPort] = createChannel();
    return new Promise((resolve) => {
      ownPort.onmessage = ({
        data,
        ports: [port],
      }: {
        data: ForwardedRequest | WorkerVersion;
        ports: readonly Port[];
      }) => {
        if (data.type === "request") void answerForwarded({ fetch: answerByCurrent }, data, port!);
        else {
          this.clientId = data.clientId;
          resolve(data.version);
        }
      };
      setTimeout(() => resolve(undefined), WORKER_TIMEOUT_MS);
      this.workers.controller!.postMessage({ type: "understudy:start" }, [workerPort]);
    });
  }

  replaceCredentials(request: Request): Request {
    // Paths that begin with /_ are those of the console, which sends its own key.
    if (this.key === undefined || new URL(request.url).pathname.startsWith("/_")) return request;
    request.headers.delete("authorization");
    request.headers.set("api-key", this.key);
    return request;
  }
}

async function answerByCurrent(request: Request): Promise<Response> {
  if (currentPage === undefined) throw new TypeError("the sandbox was stopped");
  return currentPage.engine.fetch(currentPage.replaceCredentials(request));
}

/** Loads again what was loaded before the worker was there, so that the worker stores a copy. */
async function storeFiles(pageUrl: string, paths: readonly string[]): Promise<void> {
  const loadedUrls = performance.getEntriesByType("resource").map(({ name }) => name);
  const isFile = (url: string) => url.startsWith(new URL("/", pageUrl).href) && !isBelow(url, paths);
  const ownUrls = [pageUrl, ...loadedUrls].filter(isFile);
  await Promise.all(ownUrls.map((url) => fetch(url).catch(() => {})));
  // The parts that are loaded when they are first used, which would be missing without a network.
  void import("virtual:all-chunks").catch(() => {});
}
