import type { Plugin } from "vite";
import { type CreateOptions, createOrConnect, type LocalUnderstudy } from "./create-understudy.ts";
import { requireKnownOptions } from "./options.ts";

/** The options of `createUnderstudy`, except those for servers that other machines reach. */
export interface PluginOptions extends Omit<CreateOptions, "shared" | "allowHosts"> {
  /** The paths of the page that belong to the API; `/v1`, `/v2` and `/webhooks` by default. */
  paths?: readonly `/${string}`[];
}

const OPTIONS: readonly (keyof PluginOptions)[] = [
  ...(["fixture", "seed", "clock", "settings", "scenarios", "scenariosFolder"] as const),
  ...(["persist", "delay", "port", "paths"] as const),
];
const API_PATHS = ["/v1", "/v2", "/webhooks"];

/** A server that outlives a dev server's restarts, as after an edit of its configuration: the world stays. */
interface Shared {
  key: string;
  server: Promise<LocalUnderstudy>;
  /** The dev server that uses it, by root; after restarts, the newest one. */
  users: Map<string, object>;
}

let shared: Shared | undefined;

/**
 * A plugin for Vite (interfaces 13): starts a server with the dev server and proxies the API's paths to it. A build or
 * Vitest starts none. If `UNDERSTUDY_URL` is set, it uses that server.
 * @throws TypeError for options that do not exist
 */
export default function understudy(given: PluginOptions = {}): Plugin {
  requireKnownOptions("understudy", given, OPTIONS);
  const { paths = API_PATHS, ...options } = given;
  let used: Shared;
  let project: string;
  const user = {};
  return {
    name: "understudy",
    apply: (_config, { command, isPreview }) =>
      command === "serve" && isPreview !== true && process.env["VITEST"] === undefined,
    async config({ root = process.cwd() }) {
      project = root;
      used = await share(options);
      used.users.set(root, user);
      const target = (await used.server).url;
      return {
        server: { proxy: Object.fromEntries(paths.map((path) => [path, { target, changeOrigin: true }])) },
      };
    },
    async configureServer(vite) {
      const { url } = await used.server;
      vite.config.logger.info(`  Understudy ${url} serves ${paths.join(", ")}; console: ${url}/_console`);
      // The hooks at the end of a build run once for each environment, so they cannot count restarts.
      const close = vite.close.bind(vite);
      vite.close = async () => {
        await close();
        await release(used, project, user);
      };
    },
  };
}

async function share(options: CreateOptions): Promise<Shared> {
  const key = JSON.stringify(options);
  if (shared !== undefined && shared.key !== key) {
    const { server } = shared;
    shared = undefined;
    await (await server).close();
  }
  shared ??= { key, server: createOrConnect(options), users: new Map() };
  const sharing = shared;
  try {
    await sharing.server;
  } catch (error) {
    shared = undefined;
    throw error;
  }
  return sharing;
}

async function release(used: Shared, root: string, user: object): Promise<void> {
  // After a restart, the new dev server already uses the world.
  if (used.users.get(root) !== user) return;
  used.users.delete(root);
  if (used.users.size > 0) return;
  if (shared === used) shared = undefined;
  await (await used.server).close();
}
