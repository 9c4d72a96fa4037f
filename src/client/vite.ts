import type { Plugin } from "vite";
import { connect, type UnderstudyClient } from "./connect.ts";
import { type CreateOptions, createUnderstudy } from "./create-understudy.ts";

/** As `createUnderstudy` takes them, but for what only a server that others reach needs. */
export interface PluginOptions extends Omit<CreateOptions, "shared" | "allowHosts"> {
  /** The paths of the page that belong to the API; `/v1`, `/v2` and `/webhooks` by default. */
  paths?: readonly `/${string}`[];
}

const KEYS: Readonly<Record<keyof PluginOptions, true>> = {
  fixture: true,
  seed: true,
  clock: true,
  settings: true,
  scenarios: true,
  scenariosFolder: true,
  persist: true,
  delay: true,
  port: true,
  paths: true,
};
const API_PATHS = ["/v1", "/v2", "/webhooks"];

/** A server that outlives a dev server's restarts, as after an edit of its configuration: the world stays. */
interface Shared {
  key: string;
  client: Promise<UnderstudyClient>;
  close: () => Promise<void>;
  /** By root, the dev server that uses it: the newest of those that followed each other by restarts. */
  users: Map<string, object>;
}

let shared: Shared | undefined;

/**
 * A plugin for Vite (interfaces 13): starts a server with the dev server and passes the API's paths on to it. Neither a build nor
 * Vitest starts one; where `UNDERSTUDY_URL` is set it is that server.
 * @throws TypeError for options that do not exist
 */
export default function understudy(given: PluginOptions = {}): Plugin {
  const { paths = API_PATHS, ...options } = checked(given);
  let mine: Held | undefined;
  return {
    name: "understudy",
    apply: (_config, { command, isPreview }) =>
      command === "serve" && isPreview !== true && process.env["VITEST"] === undefined,
    async config({ root = process.cwd() }) {
      mine = { server: await taken(options), root, by: {} };
      mine.server.users.set(root, mine.by);
      const target = (await mine.server.client).url;
      return {
        server: { proxy: Object.fromEntries(paths.map((path) => [path, { target, changeOrigin: true }])) },
      };
    },
    async configureServer(vite) {
      const held = mine!;
      const { url } = await held.server.client;
      vite.config.logger.info(`  Understudy ${url} serves ${paths.join(", ")}; console: ${url}/_console`);
      // Hooks at the end of a build are called for each environment, and this is not for all restarts.
      const close = vite.close.bind(vite);
      vite.close = async () => {
        await close();
        await letGo(held);
      };
    },
  };
}

interface Held {
  server: Shared;
  root: string;
  by: object;
}

async function taken(options: CreateOptions): Promise<Shared> {
  const key = JSON.stringify(options);
  if (shared !== undefined && shared.key !== key) {
    const { close } = shared;
    shared = undefined;
    await close();
  }
  shared ??= opened(key, options);
  const taking = shared;
  try {
    await taking.client;
  } catch (error) {
    shared = undefined;
    throw error;
  }
  return taking;
}

function opened(key: string, options: CreateOptions): Shared {
  const running = process.env["UNDERSTUDY_URL"];
  if (running)
    return { key, client: Promise.resolve(connect(running)), close: async () => {}, users: new Map() };
  const client = createUnderstudy(options);
  return { key, client, close: async () => (await client).close(), users: new Map() };
}

async function letGo({ server, root, by }: Held): Promise<void> {
  // A restart that closes the dev server before it has left the world to its successor.
  if (server.users.get(root) !== by) return;
  server.users.delete(root);
  if (server.users.size > 0) return;
  if (shared === server) shared = undefined;
  await server.close();
}

function checked(options: PluginOptions): PluginOptions {
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(KEYS, key)) continue;
    const known = Object.keys(KEYS).join(", ");
    throw new TypeError(`understudy has no option ${JSON.stringify(key)}; its options are ${known}`);
  }
  return options;
}
