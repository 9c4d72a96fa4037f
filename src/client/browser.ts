import manifest from "../../package.json" with { type: "json" };
import type { BrowserEngine } from "../browser.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { UnderstudyClient } from "./connect.ts";
import { ControlHttp } from "./http.ts";
import { requireKnownOptions } from "./options.ts";
import type { SandboxClient } from "./sandbox.ts";
import { transportOver } from "./transport.ts";
import type { SandboxOptions, ScenarioName } from "./types.ts";
import {
  type AnswerPart,
  createChannel,
  type PassedRequest,
  type Port,
  type ReaderMessage,
  type WorkerVersion,
} from "./worker-messages.ts";

/** How a page's sandbox begins. */
export interface StartOptions extends Pick<SandboxOptions, "fixture" | "seed" | "clock" | "settings"> {
  scenarios?: readonly ScenarioName[];
  /** Requests to these paths of the page's origin are answered by the sandbox; `/v1`, `/v2` and `/webhooks` unless given. */
  paths?: readonly string[];
  /** The service worker's address, `/understudy-worker.js` unless given; `understudy worker-file DIR` writes the file. */
  worker?: string;
}

const OPTIONS = ["fixture", "seed", "clock", "settings", "scenarios", "paths", "worker"];
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
  requireKnownOptions("start", options, OPTIONS);
  const { paths = API_PATHS, worker = "/understudy-worker.js", ...world } = options;
  const { assembleBrowserEngine } = await import("../browser.ts");
  const engine = assembleBrowserEngine(world);
  const registration = await connectWorker(engine, { paths, worker }).catch((error) => {
    engine.close();
    throw error;
  });
  const http = new ControlHttp(IN_PROCESS_ORIGIN, undefined, {
    transport: transportOver(engine.fetch),
    fetch: engine.fetch,
  });
  return Object.assign(await new UnderstudyClient(http).open("default"), {
    async stop() {
      engine.close();
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
      if (data.type === "request") void answer(engine, data, port!);
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

/** Answers one request of the worker, a piece whenever it asks for the next. */
async function answer(
  engine: BrowserEngine,
  { method, url, headers, body }: PassedRequest,
  port: Port,
): Promise<void> {
  const gone = new AbortController();
  let wake = () => {};
  let asked = 0;
  const send = (part: AnswerPart) => port.postMessage(part);
  port.onmessage = ({ data }: { data: ReaderMessage }) => {
    if (data.type === "abort") gone.abort();
    else asked += 1;
    wake();
  };
  const taken = async () => {
    while (asked === 0 && !gone.signal.aborted)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    asked -= 1;
  };
  let isBegun = false;
  try {
    const response = await engine.fetch(
      new Request(url, { method, headers, body: body.byteLength === 0 ? null : body, signal: gone.signal }),
    );
    const isEmpty = response.body === null;
    send({ type: "head", status: response.status, headers: [...response.headers], isEmpty });
    isBegun = !isEmpty;
    for await (const piece of readPieces(response)) {
      await taken();
      send({ type: "piece", bytes: piece });
    }
    if (isBegun) await taken();
    send({ type: "end" });
  } catch {
    // A stream that fails drops the pieces that its reader has not taken.
    if (isBegun) await taken();
    send({ type: "broken" });
  }
}

/** By its reader, since not every browser's streams are iterable. */
async function* readPieces({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
