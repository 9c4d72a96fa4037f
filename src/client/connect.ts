import { toBase64 } from "../engine/bytes.ts";
import { ControlHttp } from "./http.ts";
import { requireKnownOptions, requireObject, showValue, toPathPart } from "./options.ts";
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

/** A running server, in this process or another (interfaces.md 8). */
export class UnderstudyClient {
  /** The server's address, without a trailing slash. */
  readonly url: string;
  readonly http: ControlHttp;

  constructor(http: ControlHttp) {
    this.url = http.url;
    this.http = http;
  }

  health = (): Promise<Health> => this.http.fetchHealth();

  /** Creates a sandbox; the name is generated unless given. */
  sandbox = async (options: SandboxOptions = {}): Promise<SandboxClient> => {
    const { name } = requireObject(options);
    // The name again, since load balancers cannot read it in the body.
    return this.toClient(await this.http.call<SandboxState>("POST", "/_control/sandboxes", options, name));
  };

  /** Opens a sandbox that exists, such as `default`. */
  open = async (name: string): Promise<SandboxClient> =>
    this.toClient(await this.http.call<SandboxState>("GET", toPath(name)));

  /** Creates the sandbox of a file that `export` made (interfaces.md 19). Without a name: the file's, with a number if it is in use. */
  openFile = async (bytes: Uint8Array, name?: string): Promise<SandboxClient> => {
    if (!(bytes instanceof Uint8Array))
      throw new TypeError(`openFile takes the bytes of a file as a Uint8Array, not ${showValue(bytes)}`);
    const input = { file: toBase64(bytes), name };
    return this.toClient(await this.http.call<SandboxState>("POST", "/_control/open", input));
  };

  list = async (): Promise<SandboxState[]> =>
    (await this.http.call<List<SandboxState>>("GET", "/_control/sandboxes")).items;

  /** The catalogue of events, with the schema and a sample of what is sent (interfaces.md 14). */
  events = async (): Promise<CataloguedEvent[]> =>
    (await this.http.call<List<CataloguedEvent>>("GET", "/_control/events")).items;

  /** The coverage of all the server's sandboxes, including deleted ones (interfaces.md 11). */
  coverage = (): Promise<CoverageMatrix> => this.http.call("GET", "/_control/coverage");

  /** Adds the coverage of another server; resolves with the total. */
  reportCoverage = (matrix: CoverageMatrix): Promise<CoverageMatrix> =>
    this.http.call("POST", "/_control/coverage", matrix);

  /** Nodes, sandboxes and the first `limit` leases of a fleet (interfaces.md 15). */
  fleet = (limit = 100): Promise<Fleet> => this.http.call("GET", `/_control/fleet?limit=${limit}`);

  fork = async (source: string, name: string): Promise<SandboxClient> =>
    this.toClient(await this.http.call<SandboxState>("POST", `${toPath(source)}/fork`, { name }));

  private toClient(state: SandboxState): Promise<SandboxClient> {
    return SandboxClient.of(this.http, state);
  }
}

function toPath(sandbox: string): string {
  return `/_control/sandboxes/${toPathPart(sandbox)}`;
}

/** The server that `UNDERSTUDY_URL` names, as in a suite; else the local one. */
export const getDefaultUrl = (): string => readEnvironment("UNDERSTUDY_URL") || "http://127.0.0.1:4747";

/** A page has no environment. */
function readEnvironment(name: string): string | undefined {
  return typeof process === "object" ? process.env?.[name] : undefined;
}

/** @throws AddressError. The first call throws an UnreachableError if nothing answers at `url`. */
export function connect(url = getDefaultUrl(), options: { token?: string } = {}): UnderstudyClient {
  requireKnownOptions("connect", options, ["token"]);
  return new UnderstudyClient(new ControlHttp(url, options.token ?? readEnvironment("UNDERSTUDY_TOKEN")));
}
