import { readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const BUILT = fileURLToPath(new URL("../../../dist/browser/", import.meta.url));
const CONSOLE = fileURLToPath(new URL("../../../dist/console/", import.meta.url));
const APPLICATION = `<!doctype html><title>An application</title>
<script type="module" crossorigin src="/main.js"></script>`;
const MAIN = 'import { start } from "/built/index.js"; globalThis.begin = start;';

/** A server of static files for a page, in which the global `begin` is the library's `start`. */
export class StaticApplication {
  /** Requests for which there is no file. */
  arrived: string[] = [];
  /** Source text that replaces the worker's file. */
  worker: string | undefined;
  /** Content-Security-Policy of all responses. */
  policy: string | undefined;
  /** A file of the build that is not served. */
  missing: string | undefined;
  /** Whether the console's files are served. */
  console = true;
  private readonly server = http.createServer((request, response) => this.answer(request, response));

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  readWorker(): string {
    return readFileSync(`${BUILT}understudy-worker.js`, "utf8");
  }

  /** Lists the chunks of the build: its files with a hash in the name. */
  chunks(): string[] {
    return readdirSync(BUILT).filter((file) => /-[\w-]{8}\.js$/.test(file));
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { pathname } = new URL(request.url!, "http://x");
    response.setHeader("content-type", pathname.endsWith(".js") ? "text/javascript" : "text/html");
    // Most file servers send this header; bundlers mark their scripts as crossorigin.
    response.setHeader("vary", "Origin");
    if (this.policy !== undefined) response.setHeader("content-security-policy", this.policy);
    if (pathname === "/based/page/") return void response.end(`<base href="/">${APPLICATION}`);
    if (pathname.endsWith("/")) return void response.end(APPLICATION);
    if (pathname === "/main.js") return void response.end(MAIN);
    if (pathname === "/panel.js")
      return void response.end(
        'import { showPanel } from "/built/panel.js"; globalThis.showPanel = showPanel;',
      );
    if (pathname === "/other-worker.js")
      return void response.end(
        "skipWaiting(); addEventListener('activate', (event) => event.waitUntil(clients.claim()));",
      );
    if (pathname.endsWith("/understudy-worker.js"))
      return void response.end(this.worker ?? this.readWorker());
    if (pathname === "/part")
      return void response.writeHead(206, { "content-range": "bytes 0-0/2" }).end("a");
    if (pathname === "/events") {
      response.setHeader("content-type", "text/event-stream");
      return void response.write("data: 1\n\n");
    }
    const ofConsole = /^(\/app)?\/_console\/(.*)$/.exec(pathname)?.[2];
    if (this.console && ofConsole !== undefined) {
      if (pathname.endsWith(".css")) response.setHeader("content-type", "text/css");
      if (pathname.endsWith(".svg")) response.setHeader("content-type", "image/svg+xml");
      return void response.end(readFileSync(CONSOLE + ofConsole));
    }
    try {
      if (pathname === this.missing) throw new Error("missing");
      response.end(readFileSync(BUILT + pathname.replace("/built/", "/").slice(1)));
    } catch {
      this.arrived.push(pathname);
      response.writeHead(404).end("a file server has no such file");
    }
  }
}
