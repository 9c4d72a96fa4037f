import manifest from "../../package.json" with { type: "json" };
import type { BrowserEngine } from "../browser.ts";
import { answerPassed } from "./answer-passed.ts";
import { requireKnownOptions } from "./options.ts";
import { openPageEngine, openSandbox } from "./page-engine.ts";
import { PAGE_START, type PageStart } from "./page-start.ts";
import type { SandboxClient } from "./sandbox.ts";
import { createChannel, type PassedRequest, type Port, type WorkerVersion } from "./worker-messages.ts";

/** How a page's sandbox begins, and which requests it answers. */
export interface StartOptions extends PageStart {
  /** Requests to these paths of the page's origin are answered by the sandbox; `/v1`, `/v2` and `/webhooks` unless given. */
  paths?: readonly string[];
  /** The service worker's address, `/understudy-worker.js` unless given; `understudy worker-file DIR` writes the file. */
  worker?: string;
}

const API_PATHS = ["/v1", "/v2", "/webhooks"];

export interface PageSandbox extends SandboxClient {
  /** Ends the sandbox; requests reach the network again after the next load. */
  stop(): Promise<void>;
}

/**
 * Runs a sandbox in this page and lets a service worker answer the page's requests from it (interfaces 17).
 * Await it before the page calls its API.
 * @throws Error if the browser has no service workers, or the worker's file is missing or of another version
 */
export async function start(options: StartOptions = {}): Promise<PageSandbox> {
  requireKnownOptions("start", options, [...PAGE_START, "paths", "worker"]);
  const { paths = API_PATHS, worker = "/understudy-worker.js", ...world } = options;
  const engine = await openPageEngine(world);
  const registration = await connectWorker(engine, { paths, worker }).catch(async (error) => {
    await engine.close();
    throw error;
  });
  return Object.assign(await openSandbox(engine), {
    async stop() {
      await engine.close();
      await registration.unregister();
    },
  });
}

interface Registration {
  active: Pick<Port, "postMessage"> | null;
  unregister(): Promise<boolean>;
}
interface ServiceWorkers {
  controller: Registration["active"];
  ready: Promise<Registration>;
  register(url: string): Promise<Registration>;
  addEventListener(type: string, listener: (event: { data: unknown }) => void): void;
}

async function connectWorker(
  engine: BrowserEngine,
  { paths, worker }: { paths: readonly string[]; worker: string },
): Promise<Registration> {
  const workers = (globalThis as { navigator?: { serviceWorker?: ServiceWorkers } }).navigator?.serviceWorker;
  if (workers === undefined)
    throw new Error(
      "This page has no service workers: open it by https:// or on localhost, not in a private window",
    );
  const query = new URLSearchParams(paths.map((path): [string, string] => ["path", path]));
  const controlled = new Promise<void>((resolve) => {
    if (workers.controller !== null) resolve();
    workers.addEventListener("controllerchange", () => resolve());
  });
  const registration = await workers.register(`${worker}?${query}`).catch((cause) => {
    throw new Error(
      `The service worker ${worker} cannot be loaded; write its file with: npx understudy worker-file DIR`,
      { cause },
    );
  });
  await workers.ready;
  await controlled;
  workers.addEventListener("message", ({ data }) => {
    if ((data as { type?: string } | null)?.type === "understudy:who") void introduce(engine, workers);
  });
  await introduce(engine, workers);
  return registration;
}

const ANSWER_MS = 5_000;

/** Gives the worker a port to this page. @throws Error if the worker is not ours, or of another version */
async function introduce(engine: BrowserEngine, workers: ServiceWorkers): Promise<void> {
  const [own, theirs] = createChannel();
  const version = new Promise<string | undefined>((resolve) => {
    own.onmessage = ({
      data,
      ports: [port],
    }: {
      data: PassedRequest | WorkerVersion;
      ports: readonly Port[];
    }) => {
      if (data.type === "request") void answerPassed(engine, data, port!);
      else resolve(data.version);
    };
    setTimeout(() => resolve(undefined), ANSWER_MS);
  });
  workers.controller!.postMessage({ type: "understudy:start" }, [theirs]);
  const found = await version;
  if (found === manifest.version) return;
  const what =
    found === undefined ? "is not Understudy's" : `is of version ${found}, this page of ${manifest.version}`;
  throw new Error(`The service worker ${what}; write its file again with: npx understudy worker-file DIR`);
}
