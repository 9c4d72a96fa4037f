/*
 * The service worker (interfaces.md 17). It answers nothing itself: it passes each request of a page that started a sandbox
 * to that page, and the page's answer back. `understudy worker-file DIR` writes it.
 */

import {
  breakAnswers,
  createChannel,
  isBelow,
  type Port,
  REPLACEMENTS,
  receiveAnswer,
  toForwardedRequest,
} from "./worker-messages.ts";

interface ServiceWorkerScope {
  location: { href: string; origin: string };
  clients: {
    claim(): Promise<void>;
    get(id: string): Promise<Client | undefined>;
    /** The pages, the last focused one first. */
    matchAll(): Promise<Client[]>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: (event: never) => void): void;
}
/** A page, or one of a page's own workers. */
interface Client {
  id: string;
  url: string;
  type: string;
  postMessage(message: unknown): void;
}
interface FetchEvent {
  clientId: string;
  request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(work: Promise<void>): void;
}

const worker = globalThis as unknown as ServiceWorkerScope;
/** The browser's Cache API; Node's types have another. */
declare const caches: {
  open(name: string): Promise<{
    put(request: Request, answer: Response): Promise<void>;
    match(request: Request, options: { ignoreVary: true }): Promise<Response | undefined>;
  }>;
};

/** The version of the package that wrote this file; the page compares it with its own. */
const VERSION = __UNDERSTUDY_VERSION__;
/** The options are in the worker's own URL, since a browser stops idle workers, which lose their state. */
const options = new URL(worker.location.href).searchParams;
const paths = options.getAll("path");
const isOffline = options.has("offline");
/** The console is beside this file. */
const CONSOLE = new URL("_console/", worker.location.href);

/** How long a request waits for its page, which may still be loading. */
const PAGE_WAIT_MS = 10_000;

/** The ports of pages that have started a sandbox, by client id; also of pages that are closed by now. */
const ports = new Map<string, Port>();
const waitingForPort = new Map<string, ((port: Port) => void)[]>();

worker.addEventListener("install", () => void worker.skipWaiting());
worker.addEventListener("activate", (event: { waitUntil(work: Promise<void>): void }) =>
  event.waitUntil(worker.clients.claim()),
);

worker.addEventListener(
  "message",
  ({ data, source, ports: [port] }: { data: unknown; source: Client; ports: Port[] }) => {
    const { type } = (data ?? {}) as { type?: string };
    if (type === "understudy:claim") void worker.clients.claim();
    if (type !== "understudy:start" || port === undefined) return;
    ports.set(source.id, port);
    port.postMessage({ type: "version", version: VERSION, clientId: source.id });
    for (const resolve of waitingForPort.get(source.id) ?? []) resolve(port);
    waitingForPort.delete(source.id);
  },
);

// A page that replaces this worker breaks its open answers, since the browser would wait for their ends. It cannot say so by
// `postMessage`, which would be another event that the browser waits for.
Object.assign(new BroadcastChannel(REPLACEMENTS), {
  onmessage: ({ data }: { data: unknown }) => data === worker.location.href && breakAnswers(),
});

worker.addEventListener("fetch", (event: FetchEvent) => {
  const { clientId, request } = event;
  const isNavigation = (request.mode as string) === "navigate";
  if (isNavigation && request.url.startsWith(CONSOLE.href)) event.respondWith(openConsole(event));
  else if (!isNavigation && isBelow(request.url, paths)) event.respondWith(forwardToPage(clientId, request));
  else if (!isNavigation && isBelow(request.url, ["/_control", "/_s"]))
    event.respondWith(passConsoleRequest(clientId, request));
  else if (isOffline && request.method === "GET" && request.url.startsWith(worker.location.origin))
    event.respondWith(fetchOrReadCopy(request, event));
});

/** A network error if no page answers: the request must not reach the real API. */
async function forwardToPage(page: string, request: Request): Promise<Response> {
  const port = ports.get(page) ?? (await findPort(page));
  if (port === undefined) {
    console.warn(
      `${request.method} ${request.url} failed: no page of Understudy has started a sandbox for it. If this page needs no sandbox, remove its service worker, (await navigator.serviceWorker.getRegistration()).unregister(), and reload.`,
    );
    return Response.error();
  }
  const forwarded = await toForwardedRequest(request);
  const [ownPort, pagePort] = createChannel();
  port.postMessage(forwarded, [pagePort, forwarded.body]);
  return receiveAnswer(ownPort, request.signal);
}

/** The application's own file, of which a copy is stored for the time without a network. */
async function fetchOrReadCopy(request: Request, event: FetchEvent): Promise<Response> {
  try {
    const answer = await fetch(request);
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
    if (answer.status === 200 && !isStream) event.waitUntil(storeCopy(request, answer.clone()));
    return answer;
  } catch (error) {
    const store = await caches.open("understudy");
    // A bundler's scripts are requested with an Origin; the request that stored the copy may have had none.
    const copy = await store.match(request, { ignoreVary: true });
    if (copy === undefined) throw error;
    return copy;
  }
}

/** Does nothing if the browser refuses, as in some private windows, or if the disk is full. */
async function storeCopy(request: Request, answer: Response): Promise<void> {
  try {
    await (await caches.open("understudy")).put(request, answer);
  } catch {}
}

/** All views of the console are one HTML file, whose script paths assume the root of a site. */
async function openConsole(event: FetchEvent): Promise<Response> {
  const index = new Request(new URL("index.html", CONSOLE));
  const file = await (isOffline ? fetchOrReadCopy(index, event) : fetch(index));
  if (!file.ok) return fetch(event.request);
  const page = (await file.text()).replaceAll('"/_console/', `"${CONSOLE.pathname}`);
  return new Response(page, { headers: file.headers });
}

/**
 * A console shows the sandbox of the page whose id it was opened with; if that page was reloaded or closed, that of the page
 * that was focused last.
 */
async function passConsoleRequest(clientId: string, request: Request): Promise<Response> {
  const { href, searchParams } = new URL((await worker.clients.get(clientId))?.url ?? "about:blank");
  if (!href.startsWith(CONSOLE.href)) return fetch(request);
  const pages = await worker.clients.matchAll();
  const page =
    pages.find(({ id }) => id === searchParams.get("page")) ?? pages.find(({ id }) => ports.has(id));
  return page === undefined ? fetch(request) : forwardToPage(page.id, request);
}

/** A page's own worker has no sandbox; its requests are answered by the page that was focused last. */
async function findPort(clientId: string): Promise<Port | undefined> {
  const client = await worker.clients.get(clientId);
  if (client === undefined) return undefined;
  const pages = client.type === "window" ? [client] : await worker.clients.matchAll();
  const startedPage = pages.find(({ id }) => ports.has(id));
  if (startedPage !== undefined) return ports.get(startedPage.id);
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), PAGE_WAIT_MS);
    for (const page of pages) {
      waitingForPort.set(page.id, [...(waitingForPort.get(page.id) ?? []), resolve]);
      page.postMessage({ type: "understudy:who" });
    }
  });
}
