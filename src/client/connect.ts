import { type ControlHttp, controlHttp } from "./http.ts";
import { SandboxClient } from "./sandbox.ts";
import type {
  CataloguedEvent,
  CoverageMatrix,
  Fleet,
  Health,
  List,
  SandboxOptions,
  SandboxState,
} from "./types.ts";

/** A running server, in this process or another (interfaces 8). */
export interface UnderstudyClient {
  /** The server's address, without a trailing slash. */
  readonly url: string;
  readonly http: ControlHttp;
  health(): Promise<Health>;
  /** Creates a sandbox; the name is made up where none is given. */
  sandbox(options?: SandboxOptions): Promise<SandboxClient>;
  /** Opens one that exists, such as `default`. */
  open(name: string): Promise<SandboxClient>;
  list(): Promise<SandboxState[]>;
  /** The catalogue of events, with the schema and a sample of what is sent (interfaces 14). */
  events(): Promise<CataloguedEvent[]>;
  /** The coverage of all its sandboxes, including deleted ones (interfaces 11). */
  coverage(): Promise<CoverageMatrix>;
  /** Adds what another server has seen; resolves with the sum. */
  reportCoverage(seen: CoverageMatrix): Promise<CoverageMatrix>;
  /** Nodes, sandboxes and the first `limit` leases of a fleet (interfaces 15). */
  fleet(limit?: number): Promise<Fleet>;
  /** Forks a sandbox under a new name. */
  fork(source: string, name: string): Promise<SandboxClient>;
}

/** In a suite, and wherever the environment names a server, that one. */
export const usualUrl = (): string => process.env["UNDERSTUDY_URL"] || "http://127.0.0.1:4747";

/** @throws AddressError; UnreachableError when nothing answers at `url` (on the first call, not here) */
export function connect(url = usualUrl(), options: { token?: string } = {}): UnderstudyClient {
  const http = controlHttp(url, options.token ?? process.env["UNDERSTUDY_TOKEN"]);
  const opened = (state: SandboxState) => SandboxClient.of(http, state);
  return {
    url: http.url,
    http,
    health: http.health,
    sandbox: async (wanted = {}) =>
      opened(await http.call<SandboxState>("POST", "/_control/sandboxes", wanted, wanted.name)),
    open: async (name) =>
      opened(await http.call<SandboxState>("GET", `/_control/sandboxes/${encodeURIComponent(name)}`)),
    list: async () => (await http.call<List<SandboxState>>("GET", "/_control/sandboxes")).items,
    events: async () => (await http.call<List<CataloguedEvent>>("GET", "/_control/events")).items,
    coverage: () => http.call<CoverageMatrix>("GET", "/_control/coverage"),
    reportCoverage: (seen) => http.call<CoverageMatrix>("POST", "/_control/coverage", seen),
    fleet: (limit = 100) => http.call<Fleet>("GET", `/_control/fleet?limit=${limit}`),
    fork: async (source, name) =>
      opened(
        await http.call<SandboxState>("POST", `/_control/sandboxes/${encodeURIComponent(source)}/fork`, {
          name,
        }),
      ),
  };
}
