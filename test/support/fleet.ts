import type { UnderstudyOptions } from "../../src/control/understudy-options.ts";
import { freePort } from "./free-port.ts";
import { type Api, type ApiResponse, KEYS, startReference } from "./harness.ts";
import type { TestRedis } from "./redis.ts";
import { type Finished, startServer } from "./run-understudy.ts";

export const TOKEN = "token-of-the-whole-fleet";
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

export interface TestNode extends Omit<Api, "advance"> {
  warnings: string[];
  /** Makes a call with the fleet's token. */
  control: (method: string, path: string, body?: unknown) => ReturnType<Api["call"]>;
}

/** Starts a node of a fleet in this process. */
export async function startNode(
  redis: TestRedis,
  options: UnderstudyOptions & { port?: number } = {},
): Promise<TestNode> {
  const port = options.port ?? (await freePort());
  const warnings: string[] = [];
  const say = (message: string) => void warnings.push(message);
  const api = await startReference({
    store: { url: redis.url, nodeUrl: `http://127.0.0.1:${port}` },
    shared: { token: TOKEN, allowAddresses: LOOPBACK },
    log: { warn: say, error: say, info() {} } as never,
    ...options,
    port,
  });
  const control: TestNode["control"] = (method, path, body) =>
    api.call(undefined, method, path, body, { authorization: `Bearer ${TOKEN}` });
  return { ...api, warnings, control };
}

export interface NodeProcess {
  url: string;
  pid: number;
  signal(signal: NodeJS.Signals): void;
  stop(signal?: NodeJS.Signals): Promise<Finished>;
  output(): { stdout: string; stderr: string };
  control: TestNode["control"];
  /** Sends a request of usr_ada. */
  get(path: string): ReturnType<TestNode["control"]>;
}

/** Starts a node in its own process, which a test can kill and stop. */
export async function startNodeProcess(redis: TestRedis, args: readonly string[] = []): Promise<NodeProcess> {
  const port = String(await freePort());
  const where = ["--store", redis.url, "--node-url", `http://127.0.0.1:${port}`, "--port", port];
  const shared = ["--shared", "--allow-webhook", "127.0.0.0/8", "--quiet", "--no-watch"];
  const { ready, child, stop, output } = await startServer([...where, ...shared, ...args], {
    env: { UNDERSTUDY_TOKEN: TOKEN },
  });
  return {
    ...{ url: ready.url, pid: ready.pid, stop, output },
    signal: (signal) => void child.kill(signal),
    control: (method, path, body) =>
      send(ready.url + path, { method, body, headers: { authorization: `Bearer ${TOKEN}` } }),
    get: (path) => send(ready.url + path, { method: "GET", headers: { "api-key": KEYS.ada } }),
  };
}

async function send(
  url: string,
  { method, body, headers }: { method: string; body?: unknown; headers: Record<string, string> },
): Promise<ApiResponse> {
  const json: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...json },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    ...{ status: response.status, headers: response.headers, text },
    body: text ? JSON.parse(text) : undefined,
  };
}
