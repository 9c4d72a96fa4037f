import manifest from "../../package.json" with { type: "json" };
import type { BrowserEngine } from "../browser.ts";
import { answerPassed } from "./answer-passed.ts";
import { createChannel, type PassedRequest, type Port, type WorkerVersion } from "./worker-messages.ts";

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
  ready: Promise<Registration>;
  register(url: string, options: { updateViaCache: "none" }): Promise<Registration>;
  addEventListener(type: string, listener: (event: { data: unknown }) => void): void;
}

export const API_PATHS = ["/v1", "/v2", "/webhooks", "/upload/storage"];

export interface WorkerOptions {
  paths: readonly string[];
  worker: string;
  offline?: boolean;
}

const ANSWER_MS = 5_000;

/** The service worker that passes this page's requests to its engine. */
export class PageWorker {
  /** The engine that answers the page's requests from now on. */
  engine: Pick<BrowserEngine, "fetch">;
  /** The API key that requests are sent with, in place of their own credentials. */
  key: string | undefined;
  /** This page's id among the worker's clients. */
  client = "";
  private readonly workers: ServiceWorkers;
  private readonly registration: Registration;

  private constructor(
    engine: Pick<BrowserEngine, "fetch">,
    workers: ServiceWorkers,
    registration: Registration,
  ) {
    this.engine = engine;
    this.workers = workers;
    this.registration = registration;
  }

  /**
   * Registers the worker, and waits until it answers this page's requests. One of another version, or for other paths,
   * is replaced.
   * @throws Error if the browser has no service workers, or the file is missing, another's or of another version
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
    for (const path of paths) url.searchParams.append("path", path);
    if (offline) url.searchParams.set("offline", "");
    const registration = await workers.register(url.href, { updateViaCache: "none" }).catch((cause) => {
      throw new Error(
        `The service worker ${worker} cannot be loaded; write its file with: npx understudy worker-file DIR`,
        { cause },
      );
    });
    await workers.ready;
    const page = new PageWorker(engine, workers, registration);
    workers.addEventListener("message", ({ data }) => {
      if ((data as { type?: string } | null)?.type === "understudy:who") void page.introduce();
    });
    await page.untilActive(url.href);
    let version = await page.introduce();
    if (version !== undefined && version !== manifest.version) {
      // The file may have been replaced since the browser stored it.
      await registration.update().catch(() => {});
      await page.untilActive(url.href);
      version = await page.introduce();
    }
    if (version === manifest.version) {
      if (offline) await storeFiles(location!.href);
      return page;
    }
    const what =
      version === undefined
        ? "is not Understudy's"
        : `is of version ${version}, this page of ${manifest.version}`;
    throw new Error(`The service worker ${what}; write its file again with: npx understudy worker-file DIR`);
  }

  unregister(): Promise<boolean> {
    return this.registration.unregister();
  }

  /** Waits until the newest worker is active, and is the one of this page. */
  private async untilActive(url: string): Promise<void> {
    const { registration, workers } = this;
    const next = registration.installing ?? registration.waiting;
    if (next !== null)
      await new Promise<void>((resolve) => {
        const isDone = () => ["activated", "redundant"].includes(next.state);
        if (isDone()) resolve();
        next.addEventListener("statechange", () => isDone() && resolve());
      });
    await new Promise<void>((resolve) => {
      const isOwn = () => workers.controller?.scriptURL === url && workers.controller === registration.active;
      if (isOwn()) resolve();
      workers.addEventListener("controllerchange", () => isOwn() && resolve());
    });
  }

  /** Gives the worker a port to this page. Resolves with its version, or undefined if it does not answer. */
  private introduce(): Promise<string | undefined> {
    const [own, theirs] = createChannel();
    return new Promise((resolve) => {
      own.onmessage = ({
        data,
        ports: [port],
      }: {
        data: PassedRequest | WorkerVersion;
        ports: readonly Port[];
      }) => {
        if (data.type === "request")
          void answerPassed({ fetch: (request) => this.engine.fetch(this.signed(request)) }, data, port!);
        else {
          this.client = data.client;
          resolve(data.version);
        }
      };
      setTimeout(() => resolve(undefined), ANSWER_MS);
      this.workers.controller!.postMessage({ type: "understudy:start" }, [theirs]);
    });
  }

  private signed(request: Request): Request {
    if (this.key === undefined || new URL(request.url).pathname.startsWith("/_")) return request;
    request.headers.delete("authorization");
    request.headers.set("api-key", this.key);
    return request;
  }
}

/** Loads again what was loaded before the worker was there, so that it stores a copy. */
async function storeFiles(page: string): Promise<void> {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const own = [page, ...loaded].filter((url) => url.startsWith(new URL("/", page).href));
  await Promise.all(own.map((url) => fetch(url).catch(() => {})));
  // The parts that are loaded when they are first used, which would be missing without a network.
  void import("virtual:all-chunks").catch(() => {});
}
