import type { OnDelivery } from "../hosts/fetch/answer-deliveries.ts";
import { WORLD_OPTIONS } from "./options.ts";
import type { SandboxClient } from "./sandbox.ts";
import type { SandboxOptions, ScenarioName } from "./types.ts";

/** How a page's sandbox begins. */
export interface PageStart extends Pick<SandboxOptions, "fixture" | "seed" | "clock" | "settings"> {
  scenarios?: readonly ScenarioName[];
  /**
   * Stores the world in the browser under this name: it is there after a reload, and tabs that give the same name share
   * it. Fixture, seed, clock, settings and scenarios apply only when it begins.
   */
  persist?: string;
  /**
   * Takes each webhook that leaves the sandbox, instead of the network. Answer with a `Response`; anything else counts as
   * 204, a rejection as a connection that broke. If tabs share a world, only the tab that runs the world calls its
   * function.
   */
  onDelivery?: OnDelivery;
}

/** The keys of `PageStart`. */
export const PAGE_START_OPTIONS = [...WORLD_OPTIONS, "scenarios", "persist", "onDelivery"];

export interface PageSandbox extends SandboxClient {
  /** The user whose API key the page's requests are sent with; undefined if they keep their own credentials. */
  readonly user: string | undefined;
  /** The console of this sandbox, if `understudy worker-file --console` has written its files. */
  readonly consoleUrl: string;
  /**
   * From now on the page's requests are sent as this user, whatever their credentials. If `user` is undefined, they keep
   * their own credentials.
   * @throws Error if the user has no valid API key
   */
  actAs(user: string | undefined): void;
  /** Ends the sandbox: the page's requests fail, and reach the network again after the next load. */
  stop(): Promise<void>;
}
