import { constants, type Http2Stream } from "node:http2";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Plugin, ProxyOptions, ViteDevServer } from "vite";
import { isFolder } from "../documents/files.ts";
import { isLoopback } from "../engine/contract/http-url.ts";
import { escapeRegExp } from "../engine/contract/text.ts";
import { type CreateOptions, connectToNamed, type StartedServer, startServer } from "./create-understudy.ts";
import { findNamedSandbox } from "./http.ts";
import { API_PATHS, requireKnownOptions, showValue, UPLOAD_PATH } from "./options.ts";
import { type SandboxStart, START_OPTIONS } from "./sandbox-start.ts";

/** The options of `createUnderstudy`, except those for servers that other machines reach themselves. */
export interface PluginOptions extends SandboxStart, Pick<CreateOptions, "persist" | "port" | "allowHosts"> {
  /**
   * The paths of the page that belong to the API, each with everything below it; `/v1`, `/v2` and `/webhooks` by default.
   * Navigations stay the application's.
   */
  paths?: readonly `/${string}`[];
}

const OPTIONS: readonly (keyof PluginOptions)[] = [
  ...START_OPTIONS,
  "persist",
  "port",
  "allowHosts",
  "paths",
];
/** Understudy's own: control API, console, receivers, and the prefix of a sandbox. */
const OWN_PATHS = ["/_control", "/_console", "/_receivers", "/_s"];

/** The module that tells a page the API's URL and keys; without a dev server it has neither. */
const PAGE_MODULE = "virtual:understudy";

/** A server that outlives restarts of the dev server, for example after an edit of its configuration, so that the world stays. */
interface SharedServer {
  key: string;
  options: CreateOptions;
  server: Promise<StartedServer>;
  /** The dev server that uses it, by root; after restarts, the newest one. */
  users: Map<string, ViteDevServer>;
}

/** By their options. */
const sharedServers = new Map<string, SharedServer>();

/**
 * A plugin for Vite (interfaces.md 13): starts a server with the dev server and proxies the API's paths to it. A build or
 * Vitest starts none. If `UNDERSTUDY_URL` is set, it uses that server, and the sandbox that it names.
 * @throws TypeError for options that do not exist, and for invalid paths
 */
export default function understudy(pluginOptions: PluginOptions = {}): Plugin {
  requireKnownOptions("understudy", pluginOptions, OPTIONS);
  const { paths = API_PATHS, ...options } = pluginOptions;
  checkPaths(paths);
  const namedSandbox = findNamedSandbox(process.env["UNDERSTUDY_URL"] ?? "");
  let usedServer: SharedServer | undefined;
  let project: string;
  return {
    name: "understudy",
    api: pluginOptions,
    async config({ root = process.cwd(), plugins = [] }, { command, isPreview }) {
      if (command !== "serve" || isPreview === true || process.env["VITEST"] !== undefined) return undefined;
      await requireEqualOptions(plugins);
      project = root;
      const scenariosFolder = resolve(root, "scenarios");
      usedServer = await shareServer(root, {
        ...(isFolder(scenariosFolder) && { scenariosFolder }),
        ...options,
      });
      const target = (await usedServer.server).client.url;
      const headers = namedSandbox && { headers: { "X-Sandbox": namedSandbox } };
      const api = { ...proxyTo(target), ...headers, bypass: bypassNavigations };
      return {
        server: {
          proxy: {
            [toSegmentPattern([...paths, UPLOAD_PATH])]: api,
            [toSegmentPattern(OWN_PATHS)]: proxyTo(target),
          },
        },
      };
    },
    resolveId: (id) => (id === PAGE_MODULE ? `\0${PAGE_MODULE}` : undefined),
    async load(id) {
      if (id !== `\0${PAGE_MODULE}`) return undefined;
      if (usedServer === undefined) return "export const url = undefined, credentials = {};";
      const { client } = await usedServer.server;
      const { url, credentials } = await client.open(namedSandbox ?? "default");
      // A page uses its own origin, which is the dev server's and works on other machines too; code that renders on the
      // server has no origin.
      return `export const url = globalThis.location?.origin ?? ${JSON.stringify(url)};
export const credentials = ${JSON.stringify(credentials)};`;
    },
    async configureServer(vite) {
      if (usedServer === undefined) return;
      const [root, sharedServer] = [project, usedServer];
      await join(sharedServer, root, vite);
      const { url } = (await sharedServer.server).client;
      vite.config.logger.info(`  Understudy ${url} serves ${paths.join(", ")}; console: ${url}/_console`);
      // The hooks at the end of a build run once for each environment, so they cannot count restarts.
      const close = vite.close.bind(vite);
      vite.close = async () => {
        await close();
        await release(sharedServer, root, vite);
      };
    },
  };
}

/**
 * A second server of the same page would silently replace the first at the paths that every server has.
 * @throws TypeError if a configuration has the plugin twice, with different options
 */
async function requireEqualOptions(plugins: readonly unknown[]): Promise<void> {
  const listed = (await Promise.all(plugins.flat(Infinity))).flat(Infinity) as (
    | Partial<Plugin>
    | undefined
  )[];
  const [first, ...others] = listed.filter((one) => one?.name === "understudy");
  if (others.every((other) => isDeepStrictEqual(other?.api, first?.api))) return;
  throw new TypeError(
    "understudy() is used twice with different options in one configuration; use it once, with all paths, and create sandboxes for further worlds",
  );
}

/** @throws TypeError */
function checkPaths(paths: unknown): void {
  const isPath = (one: unknown) => typeof one === "string" && /^\/[^/]/.test(one);
  if (Array.isArray(paths) && paths.every(isPath)) return;
  throw new TypeError(
    `understudy's option paths is a list of paths such as "/v1"; it was given ${showValue(paths)}`,
  );
}

/** Matches the paths and everything below them: `/v1` is not `/v10`. */
function toSegmentPattern(paths: readonly string[]): string {
  const escaped = paths.map((path) => escapeRegExp(path.replace(/\/$/, "")));
  return `^(?:${escaped.join("|")})(?=[/?#]|$)`;
}

/** A page of the application may have the path of an operation. */
const bypassNavigations: ProxyOptions["bypass"] = ({ method, url, headers }) => {
  const isNavigation =
    headers["sec-fetch-mode"] === "navigate" || /\btext\/html\b/.test(headers.accept ?? "");
  return isNavigation && (method === "GET" || method === "HEAD") ? url : undefined;
};

/** The codes of Node's errors for a connection that the server broke, or on which it sent what is not HTTP. */
const BROKEN_CONNECTION = /^(?:ECONNRESET|EPIPE|HPE_.*)$/;

/** A stream of HTTP/2 that is only destroyed looks complete to its client. */
function breakAnswer(response: { stream?: unknown; destroy(): unknown }): void {
  (response.stream as Http2Stream | undefined)?.close(constants.NGHTTP2_INTERNAL_ERROR);
  response.destroy();
}

/**
 * Reports the page's address, so that URLs in answers have it. A name that is not loopback stays in Host, where the
 * server's guard refuses it: DNS rebinding may have led the page here. An IP address cannot be rebound.
 */
function proxyTo(target: string): ProxyOptions {
  const { host, hostname } = new URL(target);
  const isRemote = !isLoopback(hostname);
  return {
    target,
    xfwd: true,
    changeOrigin: false,
    configure: (proxy) => {
      proxy.on("proxyReq", (outgoing, { headers }) => {
        // In HTTP/2, which Vite speaks with a certificate, the pseudo-header replaces Host.
        const { host: calledHost = String(headers[":authority"] ?? ""), origin = "" } = headers;
        const [, name = ""] = /^\[?(.*?)\]?(?::\d+)?$/.exec(calledHost) ?? [];
        if (isIP(name) !== 0 || isRemote) outgoing.setHeader("host", host);
        // Calls of the page itself: the server would compare the Origin with its own address, and refuse.
        if (/^https?:\/\/(.*)$/.exec(origin)?.[1] === calledHost) outgoing.removeHeader("origin");
      });
      // The page must see a fault that breaks the connection, too: Vite would answer 502, or wait for the rest of the body.
      proxy.on("error", (error, _request, response) => {
        if (BROKEN_CONNECTION.test((error as NodeJS.ErrnoException).code ?? "")) breakAnswer(response);
      });
      proxy.on("proxyRes", (incoming, _request, response) => {
        incoming.once("close", () => {
          if (!incoming.complete) breakAnswer(response);
        });
      });
    },
  };
}

async function shareServer(
  root: string,
  { operations, openapi, ...options }: CreateOptions,
): Promise<SharedServer> {
  const key = JSON.stringify(options);
  const own = { operations, openapi };
  const current = sharedServers.get(key);
  if (current !== undefined) {
    await (await current.server).replaceOperations(own);
    return current;
  }
  for (const other of sharedServers.values())
    if (other.users.has(root) && other.users.size === 1 && excludes(other.options, options)) await end(other);
  const server = startOrConnect({ ...options, ...own, trustProxy: ["127.0.0.1", "::1"] });
  const sharedServer: SharedServer = { key, options, server, users: new Map() };
  sharedServers.set(key, sharedServer);
  try {
    await server;
  } catch (error) {
    sharedServers.delete(key);
    throw error;
  }
  return sharedServer;
}

/** Whether one must end before the other can start: they have the same port, or save their worlds in the same place. */
function excludes(one: CreateOptions, other: CreateOptions): boolean {
  return (["port", "persist"] as const).some(
    (name) => one[name] !== undefined && JSON.stringify(one[name]) === JSON.stringify(other[name]),
  );
}

async function startOrConnect(options: CreateOptions): Promise<StartedServer> {
  const client = connectToNamed();
  return client === undefined ? startServer(options) : { client, replaceOperations: async () => {} };
}

/**
 * Registers a dev server as a user. If it replaces one with other options, that one's world is released only now: until
 * here the start could have failed, and the old dev server would have gone on.
 */
async function join(sharedServer: SharedServer, root: string, user: ViteDevServer): Promise<void> {
  sharedServer.users.set(root, user);
  for (const other of sharedServers.values()) {
    const previousUser = other.users.get(root);
    if (previousUser !== undefined && previousUser !== user) await release(other, root, previousUser);
  }
}

async function release(sharedServer: SharedServer, root: string, user: ViteDevServer): Promise<void> {
  // After a restart, the new dev server already uses the world.
  if (sharedServer.users.get(root) !== user) return;
  sharedServer.users.delete(root);
  if (sharedServer.users.size === 0) await end(sharedServer);
}

async function end({ key, server }: SharedServer): Promise<void> {
  sharedServers.delete(key);
  await (await server).client.close();
}
