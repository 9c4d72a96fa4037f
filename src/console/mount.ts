import type { ServerResponse } from "node:http";
import type { Mount } from "../control/internal.ts";
import { APP_SCRIPT } from "./app-script.ts";
import { CLIENT_SCRIPT } from "./client-script.ts";
import { JOURNAL_SCRIPT } from "./journal-script.ts";
import { PAGE } from "./page.ts";
import { STYLE } from "./style.ts";

const FILES: Readonly<Record<string, { type: string; text: string }>> = {
  "/_console": { type: "text/html; charset=utf-8", text: PAGE },
  "/_console/": { type: "text/html; charset=utf-8", text: PAGE },
  "/_console/style.css": { type: "text/css; charset=utf-8", text: STYLE },
  "/_console/app.js": { type: "text/javascript; charset=utf-8", text: APP_SCRIPT },
  "/_console/client.js": { type: "text/javascript; charset=utf-8", text: CLIENT_SCRIPT },
  "/_console/journal.js": { type: "text/javascript; charset=utf-8", text: JOURNAL_SCRIPT },
};

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Static and without secrets; what it shows it asks of the control API, with the user's token. */
export const consoleMount: Mount = {
  prefix: "/_console",
  access: "source",
  handle(request, response, path) {
    const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
    if (request.method !== "GET" && request.method !== "HEAD") return end(response, 405, "Only GET.");
    if (file === undefined) return end(response, 404, "The console has no such page.");
    response.writeHead(200, {
      "Content-Type": file.type,
      "Content-Length": Buffer.byteLength(file.text),
      "Cache-Control": "no-cache",
      "Content-Security-Policy": POLICY,
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    });
    response.end(request.method === "HEAD" ? undefined : file.text);
  },
};

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}
