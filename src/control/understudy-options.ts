import type { Server } from "node:http";
import type { FixtureLibrary } from "../documents/fixture-library.ts";
import type { ScenarioLibrary } from "../documents/scenario-library.ts";
import type { OutboundClient } from "../engine/contract/services.ts";
import type { Settings } from "../engine/contract/settings.ts";
import type { OperationSource } from "../engine/own/join.ts";
import type { SandboxRegistry } from "../engine/sandbox/registry.ts";
import type { ClockSetting } from "../engine/sandbox/sandbox-value.ts";
import type { OnDelivery } from "../hosts/fetch/answer-deliveries.ts";
import type { SandboxFetch } from "../hosts/fetch/create-fetch.ts";
import type { Certificate } from "../hosts/node/create-server.ts";
import type { Log } from "../hosts/node/log.ts";
import type { UpstreamOptions } from "../hosts/node/outbound/upstream.ts";
import type { Mount } from "./guard.ts";
import type { Login } from "./login.ts";
import type { Limits } from "./operation.ts";

export interface UnderstudyOptions {
  /** The fixture, seed, clock and settings are those of every sandbox that is created without its own. */
  fixture?: string | object;
  seed?: number;
  clock?: ClockSetting;
  settings?: Partial<Settings>;
  /** A user's own operations (interfaces.md 18). */
  operations?: readonly OperationSource[];
  /** With it, the control API asks for the token and limits are enforced (interfaces.md 7). */
  shared?: {
    token: string;
    limits?: Partial<Limits>;
    /** Private ranges (CIDR) that webhooks may be sent to nevertheless. */
    allowAddresses?: readonly string[];
  };
  /** Whether requests may inject faults by headers such as X-Sandbox-Fault (interfaces.md 3); true by default. */
  overrides?: boolean;
  /** The delay of every answer of every sandbox, as in a rule's effect: `200ms`, or percentiles. */
  delay?: string | number | { p50: string | number; p99: string | number };
  /** Names that Host and Origin may have in addition to loopback, for the control API and the console. */
  allowHosts?: readonly string[];
  /** With it the server speaks HTTPS only. */
  certificate?: Certificate | undefined;
  /** The base of the URLs in answers, without a slash at its end; by default that of the request. */
  publicUrl?: string | undefined;
  /** Addresses and ranges of proxies whose `Forwarded` and `X-Forwarded-*` determine the URLs in answers. */
  trustProxy?: readonly string[] | undefined;
  /** The real service, which gets the requests of paths that nothing here serves (interfaces.md 18). */
  upstream?: UpstreamOptions | undefined;
  /** Scenarios of the `default` sandbox, by name or file. */
  scenarios?: readonly string[];
  /** The user's own scenarios, beside the shipped ones. */
  scenariosFolder?: string;
  /**
   * Keeps every sandbox: in a folder, where `durable` puts each acknowledged write on disk before its answer,
   * or in one readable document.
   */
  persist?: { folder: string; durable?: boolean } | { file: string };
  /** The Redis of a fleet, and the address at which the other nodes reach this one (interfaces.md 15). */
  store?: { url: string; nodeUrl: string };
  /** Whether `default` answers no emulated request, because each test has a sandbox of its own (interfaces.md 16). */
  refuseDefault?: boolean;
  log?: Log;
  replay?: ReplayHooks;
  /** Receives the deliveries that would leave the process (interfaces.md 17). */
  onDelivery?: OnDelivery | undefined;
  /** Loads the handler of `/_control/mcp`, whose tools are a client of the server's own control API. */
  mcp?: (own: ServerAccess) => Promise<Mount["handle"]>;
}

/** The address and token for clients inside the server. */
export interface ServerAccess {
  url: () => string;
  token: string | undefined;
  version: string;
}

/** Replaces the outside world in a replay. */
export interface ReplayHooks {
  /** Answers outgoing requests with the recorded answers, including the effects of faults. */
  outbound: OutboundClient;
  /** Called at the start of each change of a sandbox, before its clock is read. */
  beforeChange: () => void;
}

/** A server that has been put together. */
export interface Understudy {
  readonly sandboxes: SandboxRegistry;
  readonly fixtures: FixtureLibrary;
  readonly scenarios: ScenarioLibrary;
  /** Replaces the user's own operations; worlds keep their records. @throws OwnOperationError; nothing has changed then */
  setOperations(sources: readonly OperationSource[]): void;
  readonly server: Server;
  /** For a shared server: a one-time login to its console without the token. */
  readonly login: Login | undefined;
  /** Binds and resolves with the base URL. */
  listen(port: number, host: string): Promise<string>;
  /** Answers a request to this server's sandboxes or its control API without a socket, whatever its URL's origin. */
  fetch: SandboxFetch;
  /** Stops accepting, lets open requests finish, and leaves nothing behind. */
  close(): Promise<void>;
}
