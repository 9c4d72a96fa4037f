import { Agent } from "node:http";
import type { Understudy, UnderstudyOptions } from "../../src/control/understudy-options.ts";
import { FixtureLibrary } from "../../src/documents/fixture-library.ts";
import type { Settings } from "../../src/engine/contract/settings.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { assemble } from "../../src/understudy.ts";
import { send } from "./send.ts";

/** Loaded once, so that all servers of a worker share its records. */
export const REFERENCE = new FixtureLibrary({ resources: RESOURCES }).load("reference");

export const EPOCH = "2026-03-15T12:00:00.000Z";

/** API keys of the reference world, by user or, for special keys, by the end of their ids. */
export const KEYS = {
  ada: "ak_adaOwnerAcme000000000000000000000000000",
  ben: "ak_benAdminAcme000000000000000000000000000",
  cleo: "ak_cleoReporterAcme00000000000000000000000",
  dan: "ak_danMemberAcme00000000000000000000000000",
  eve: "ak_eveOwnerGlobex0000000000000000000000000",
  finn: "ak_finnSuspended00000000000000000000000000",
  gus: "ak_gusDisabled0000000000000000000000000000",
  expired: "ak_adaExpired00000000000000000000000000000",
  revoked: "ak_adaRevoked00000000000000000000000000000",
  ci: "ak_acmeCiOverBudget00000000000000000000000",
  hana: "ak_hanaOwnerInitech00000000000000000000000",
  ivan: "ak_ivanOwnerHooli0000000000000000000000000",
} as const;
export type Caller = keyof typeof KEYS;

export interface ApiResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
  text: string;
}

export interface Api {
  url: string;
  understudy: Understudy;
  /** Sends a request as one of the reference users; a plain object is sent as JSON. */
  call(
    who: Caller | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse>;
  /** Moves the sandbox's clock, running what becomes due. */
  advance(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on a free port with the reference world and its clock frozen at the epoch. */
export async function startReference({
  port = 0,
  ...options
}: UnderstudyOptions & { settings?: Partial<Settings>; port?: number } = {}): Promise<Api> {
  const understudy = assemble({
    fixture: "reference",
    clock: { mode: "frozen", now: Date.parse(EPOCH) },
    mcp: async (own) => (await import("../../src/client/mcp/serve.ts")).createMcpHttpHandler(own),
    ...options,
    settings: { check_answers: "on", ...options.settings },
  });
  const url = await understudy.listen(port, "127.0.0.1");
  const agent = new Agent({ keepAlive: true });
  const pending = new Set<Promise<unknown>>();
  return {
    url,
    understudy,
    async call(who, method, path, body, headers = {}) {
      const raw = typeof body === "string" || body instanceof Uint8Array || body instanceof FormData;
      const sending = send(agent, url + path, {
        method,
        headers: {
          ...(who ? { "api-key": KEYS[who] } : {}),
          ...(body !== undefined && !raw ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        body: body === undefined || raw ? body : JSON.stringify(body),
      });
      pending.add(sending);
      const answer = await sending.finally(() => pending.delete(sending));
      const { text } = answer;
      const json = answer.headers.get("content-type")?.includes("json") && text !== "";
      return { ...answer, body: json ? JSON.parse(text) : undefined };
    },
    async advance(milliseconds) {
      await understudy.sandboxes.get("default")!.world.advance((now) => now + milliseconds);
    },
    async close() {
      await understudy.close();
      // The server may close when the system has sent a response; the client may not have read it yet.
      await Promise.allSettled(pending);
      agent.destroy();
    },
  };
}
