import { LibraryOptions, readLibraryOptions } from "../control/library-options.ts";
import { assemble } from "../understudy.ts";
import { connect, UnderstudyClient } from "./connect.ts";
import { ControlHttp } from "./http.ts";
import { createProcessTransport } from "./node-transport.ts";
import { type OwnOperationOptions, requireKnownOptions } from "./options.ts";
import { readOwnOperations } from "./own-documents.ts";
import type { Duration, FixtureInput, SandboxOptions, ScenarioName } from "./types.ts";

type DocumentPath = `${string}.${"yaml" | "yml" | "json"}`;

/** Options of a server in this process, with the meaning that they have for `understudy start`. */
export interface CreateOptions
  extends Pick<SandboxOptions, "seed" | "clock" | "settings">,
    OwnOperationOptions {
  /** A fixture's name, a path, or a fixture as an object; `reference` unless given. */
  fixture?: FixtureInput | DocumentPath;
  /** Scenarios of the `default` sandbox, by name or file. */
  scenarios?: readonly (ScenarioName | DocumentPath)[];
  /** The folder of your own scenarios, which are added to the shipped ones. */
  scenariosFolder?: string;
  /**
   * Keeps every sandbox: in a folder, where `durable` puts each acknowledged write on disk before its answer,
   * or in one readable document.
   */
  persist?: { folder: string; durable?: boolean } | { file: string };
  /** For a server that a team shares: the control API requires the token, and limits are enforced. */
  shared?: {
    token: string;
    limits?: { sandboxes?: number; records?: number; upload_bytes?: number; rules?: number };
    /** Private ranges (CIDR) that webhooks may be sent to nevertheless. */
    allowAddresses?: readonly string[];
  };
  /** Whether requests may inject faults by their own headers, such as X-Sandbox-Fault; true unless given. */
  overrides?: boolean;
  /** Delays every answer of every sandbox on the wall clock; percentiles draw from the seed. */
  delay?: Duration | { p50: Duration; p99: Duration };
  /** With it the server speaks HTTPS only. */
  certificate?: { cert: string; key: string };
  /** The base of the URLs in answers, such as `https://sandbox.example.test`; else they follow the request. */
  publicUrl?: string;
  /** Addresses and ranges (CIDR) of proxies, whose `Forwarded` and `X-Forwarded-*` those URLs follow. */
  trustProxy?: readonly string[];
  /**
   * The real service, which gets the requests of paths that nothing here serves; `headers` replace the client's, and a
   * shared server calls only `allowAddresses` (CIDR).
   */
  upstream?: {
    url: string;
    headers?: readonly (readonly [name: string, value: string])[];
    allowAddresses?: readonly string[];
  };
  /** Names, apart from loopback, that Host and Origin may have for the control API and the console. */
  allowHosts?: readonly string[];
  /**
   * The sandbox `default` answers no request, so that a request whose base URL has lost its path fails (interfaces.md 16);
   * the test-runner fixtures set this.
   */
  refuseDefault?: boolean;
  /** A free port unless given. */
  port?: number;
}

/** The type lets the compiler report an option that `LibraryOptions` lacks. */
const SERVER_OPTIONS: Readonly<Record<keyof CreateOptions, unknown>> = LibraryOptions.properties;

export interface LocalUnderstudy extends UnderstudyClient {
  /** Ends every sandbox and the server; open requests finish first. */
  close(): Promise<void>;
}

/**
 * A server in this process, on a free loopback port (interfaces.md 8).
 * @throws DocumentError if the fixture is unknown or wrong, Problem if a setting is, TypeError for unknown options
 */
export async function createUnderstudy(options: CreateOptions = {}): Promise<LocalUnderstudy> {
  const { client } = await startServer(options);
  return client;
}

export interface StartedServer {
  client: LocalUnderstudy;
  /** Worlds keep their records. @throws OwnOperationError, DocumentError; nothing has changed then */
  replaceOperations(own: OwnOperationOptions): Promise<void>;
}

/** @throws as `createUnderstudy` */
export async function startServer(options: CreateOptions): Promise<StartedServer> {
  requireKnownOptions("createUnderstudy", options, Object.keys(SERVER_OPTIONS));
  const { operations, openapi, port = 0, ...start } = options;
  const understudy = assemble({
    ...start,
    operations: await readOwnOperations({ operations, openapi }),
    ...readLibraryOptions(options),
    mcp: async (access) => (await import("./mcp/serve.ts")).createMcpHttpHandler(access),
  });
  // A start that fails must not keep the folder of its worlds locked.
  const url = await understudy.listen(port, "127.0.0.1").catch(async (error: unknown) => {
    await understudy.close().catch(() => {});
    throw error;
  });
  const http = new ControlHttp(url, options.shared?.token, {
    transport: createProcessTransport(understudy.server),
  });
  return {
    client: Object.assign(new UnderstudyClient(http), { close: () => understudy.close() }),
    replaceOperations: async (own) => understudy.setOperations(await readOwnOperations(own)),
  };
}

/** The server that `UNDERSTUDY_URL` names, as in a suite; undefined without one. `close` does not end that server. */
export function connectToNamed(): LocalUnderstudy | undefined {
  const url = process.env["UNDERSTUDY_URL"];
  return url ? Object.assign(connect(url), { close: async () => {} }) : undefined;
}
