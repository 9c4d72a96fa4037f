import type { UnderstudyOptions } from "../../src/understudy.ts";
import { type Api, startReference } from "./harness.ts";
import { freePort, type TestRedis } from "./redis.ts";

export const TOKEN = "token-of-the-whole-fleet";
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

export interface Node extends Omit<Api, "advance"> {
  said: string[];
  /** A call with the fleet's token. */
  control: (method: string, path: string, body?: unknown) => ReturnType<Api["call"]>;
}

/** A node of a fleet in this process. */
export async function startNode(
  redis: TestRedis,
  options: UnderstudyOptions & { port?: number } = {},
): Promise<Node> {
  const port = options.port ?? (await freePort());
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const api = await startReference({
    store: { url: redis.url, nodeUrl: `http://127.0.0.1:${port}` },
    shared: { token: TOKEN, allowAddresses: LOOPBACK },
    log: { warn: say, error: say, info() {} } as never,
    ...options,
    port,
  });
  const control: Node["control"] = (method, path, body) =>
    api.call(undefined, method, path, body, { authorization: `Bearer ${TOKEN}` });
  return { ...api, said, control };
}
