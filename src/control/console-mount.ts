import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { basename, extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import express, { type Handler } from "express";
import { PROJECT_FOLDER } from "../documents/shipped-files.ts";
import { getOrAdd } from "../engine/maps.ts";
import type { Mount } from "./guard.ts";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const SECURITY_HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

const FOLDER = join(PROJECT_FOLDER, "dist", "console");
const ASSETS = "/_console/assets";

/**
 * The built console (interfaces.md 2): files with hashed names, which browsers may cache for ever, and the page for every
 * other address; the page selects its view. Static and without secrets; the page loads its data from the control API.
 */
export const handleConsole: Mount["handle"] = async (request, response, path) => {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    return sendBody(response, 405, "The console answers GET and HEAD only.");
  }
  const sendNotFound = () => sendBody(response, 404, "The console has no such file.");
  if (path.startsWith(`${ASSETS}/`))
    return void serveAssets(request as never, response as never, sendNotFound);
  // A view's address has no dot in its last part; an address with one names a file.
  if (path.slice(path.lastIndexOf("/")).includes(".")) return sendNotFound();
  const page = await readFile(join(FOLDER, "index.html")).catch(() => undefined);
  if (page === undefined)
    return sendBody(response, 503, "The console was not built. `npm run build` builds it.");
  response.setHeader("Cache-Control", "no-cache");
  sendBody(response, 200, page, "text/html; charset=utf-8");
};

/** Sends Brotli or gzip if the client accepts it, and if the build made a Brotli copy of the file. */
const preferCompressed: Handler = (request, response, next) => {
  response.vary("Accept-Encoding");
  const file = basename(request.path);
  if (!existsSync(join(FOLDER, "assets", `${file}.br`))) return next();
  if (request.acceptsEncodings("br")) {
    response.type(extname(file));
    response.set("Content-Encoding", "br");
    request.url = `/${file}.br`;
    return next();
  }
  if (!request.acceptsEncodings("gzip")) return next();
  const bytes = getOrAdd(gzippedFiles, file, () => gzipSync(readFileSync(join(FOLDER, "assets", file))));
  response.type(extname(file));
  response.set({ "Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable" });
  response.send(bytes);
};

/** Gzipped at the first request, by name: copies in the package would take as much space as the Brotli files. */
const gzippedFiles = new Map<string, Buffer>();

const serveAssets = express
  .Router()
  .use(
    ASSETS,
    preferCompressed,
    express.static(join(FOLDER, "assets"), { immutable: true, maxAge: "1y", index: false, redirect: false }),
  );

function sendBody(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  type = "text/plain; charset=utf-8",
) {
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  // Node sends only the head of an answer to HEAD.
  response.end(body);
}
