import { checkSettings } from "../control/check-input.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { assemble } from "../understudy.ts";
import type { CreateOptions } from "./create-understudy.ts";
import { ControlHttp } from "./http.ts";
import { requireKnownOptions } from "./options.ts";
import { SandboxClient } from "./sandbox.ts";
import { toReply } from "./transport.ts";
import type { SandboxState } from "./types.ts";

/** How a sandbox begins; each is as `createUnderstudy` has it. */
export type SandboxStart = Pick<
  CreateOptions,
  "fixture" | "seed" | "clock" | "settings" | "scenarios" | "scenariosFolder" | "delay"
>;

const OPTIONS: readonly (keyof SandboxStart)[] = [
  ...(["fixture", "seed", "clock", "settings"] as const),
  ...(["scenarios", "scenariosFolder", "delay"] as const),
];

/** A sandbox without a server (interfaces 17). */
export interface LocalSandbox extends SandboxClient {
  /**
   * Answers as the emulated API does, without a socket. A path or a whole URL, of which only path and query count.
   * Rejects with a TypeError where a fault breaks the connection, and with the signal's reason where you abort.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Ends its streams and timers, and removes what was uploaded. */
  close(): Promise<void>;
}

/**
 * A sandbox in this process: no server, no port, no thread (interfaces 17).
 * @throws DocumentError when the fixture is unknown or wrong, Problem when a setting is, TypeError for unknown options
 */
export async function createSandbox(options: SandboxStart = {}): Promise<LocalSandbox> {
  requireKnownOptions("createSandbox", options, OPTIONS);
  const { clock, settings, ...rest } = options;
  const understudy = assemble({
    ...rest,
    settings: checkSettings(settings ?? {}),
    clock: clock && { ...clock, now: clock.now === undefined ? undefined : Date.parse(clock.now) },
  });
  const http = new ControlHttp(IN_PROCESS_ORIGIN, undefined, async (url, call) =>
    toReply(await awaited(understudy.fetch(new Request(url, call as RequestInit)))),
  );
  const state = await http.call<SandboxState>("GET", "/_control/sandboxes/default");
  return Object.assign(await SandboxClient.of(http, state), {
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      const url = input instanceof Request ? input : new URL(input, IN_PROCESS_ORIGIN);
      return awaited(understudy.fetch(new Request(url, init)));
    },
    close: () => understudy.close(),
  });
}

/** The timers of a sandbox do not keep Node alive; an answer that is awaited does, as one over a socket would. */
async function awaited<T>(work: Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    return await work;
  } finally {
    clearInterval(alive);
  }
}
