import { readHttpUrl } from "../engine/contract/http-url.ts";
import { ClosedError, createTransport, defaultFetch, type Reply, type Transport } from "./transport.ts";
import type { Health, ProblemDocument } from "./types.ts";

/** `about:blank` if something other than the control API answered. */
type AnsweredProblem = Omit<ProblemDocument, "type"> & { type: ProblemDocument["type"] | "about:blank" };

/** A refusal of the control API, with the problem that it answered (RFC 9457). */
export class ControlError extends Error {
  override readonly name = "ControlError";
  readonly status: number;
  declare readonly problem: Readonly<AnsweredProblem>;

  constructor(status: number, problem: AnsweredProblem) {
    super(problem.detail);
    this.status = status;
    // Not enumerable: a program that prints the error would repeat detail and hint, which the message contains.
    Object.defineProperty(this, "problem", { value: problem });
  }
}

/** The advice of the library; the command line replaces it by its own. */
export const ADDRESS_ADVICE = "name another in UNDERSTUDY_URL or by connect(url)";

/** Nothing answers at the URL. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(
    url: string,
    cause: unknown,
    message = `No Understudy answers at ${url}${explainUnreachable(url, cause)}`,
  ) {
    super(message, { cause });
  }
}

function explainUnreachable(url: string, cause: unknown): string {
  // fetch wraps what Node reports.
  const thrown = cause as (NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException }) | undefined;
  const { code = "", message = "" } = thrown?.cause ?? thrown ?? {};
  if (code === "ERR_INVALID_CHAR" || /ByteString|invalid header value/.test(message))
    return ": the control token has a character that no header can carry. Write it as the server's start printed it.";
  // The fetch standard blocks some ports, such as 6000.
  if (message === "bad port")
    return ": fetch and browsers refuse this port. Start the server on another one.";
  if (/WRONG_VERSION|PACKET_LENGTH|EPROTO/.test(code))
    return ": that port speaks plain HTTP. Write http:// instead.";
  if (/SELF_SIGNED|UNABLE_TO_|ALTNAME|CERT_/.test(code))
    return `, because its certificate is not accepted (${message}). Set NODE_EXTRA_CA_CERTS to the file that its start printed, or to that of your authority.`;
  if (url.startsWith("http:") && /UND_ERR_SOCKET|ECONNRESET|HPE_/.test(code))
    return ": the connection was closed without an answer. If that port speaks TLS, write https://.";
  return `. Start one with \`understudy start\`, or ${ADDRESS_ADVICE}.`;
}

const ADDRESS_HINT = "Name the address that `understudy start` printed.";

/** Something answers at the URL that is not Understudy, or nothing in time. */
class ForeignServerError extends UnreachableError {
  constructor(url: string, answered: string) {
    super(url, undefined, `The server at ${url} is not Understudy: ${answered}. ${ADDRESS_HINT}`);
  }
}

/** The given text is not a server's address. */
export class AddressError extends Error {
  override readonly name = "AddressError";

  constructor(address: string) {
    super(
      `${JSON.stringify(String(address).slice(0, 200))} is not a server's address; write it as in http://127.0.0.1:4747`,
    );
  }
}

/** The sandbox that an address names: by its host, by the prefix of a base URL, or as the console and control API do. */
export function findNamedSandbox(address: string): string | undefined {
  const url = readHttpUrl(address);
  if (typeof url === "string") return undefined;
  const [, name] =
    /\/_(?:(?:console\/)?s|control\/sandboxes)\/([^/]+)/.exec(url.pathname) ??
    /^([^.]+)\.localhost\.?$/.exec(url.hostname) ??
    [];
  return name;
}

/** @throws AddressError */
function toAddress(text: string): string {
  // Users also give the console's address, with a view's path, a sandbox's base URL, or its address in the control API.
  const url = readHttpUrl(
    typeof text === "string" ? text.replace(/\/_(?:console|control|s\/[^/]+)(?:[/?#].*)?$/s, "") : text,
  );
  if (typeof url === "string" || url.search !== "" || url.hash !== "") throw new AddressError(text);
  // Few resolvers know the names below localhost, which are all this machine (RFC 6761).
  return url.href.replace(/\/+$/, "").replace(/^(https?:\/\/)[^/:]+\.localhost(?=[:/]|$)/i, "$1localhost");
}

/** A running server answers at once, unless the machine is busy. */
const HEALTH_TIMEOUT_MS = 8_000;

let defaultTransport: Transport = createTransport(defaultFetch);

/** In Node, `node-transport.ts` provides a transport that mocks in the test's process cannot intercept. */
export function provideTransport(transport: Transport): void {
  defaultTransport = transport;
}

/** The functions that send calls of the control API, and requests of the emulated API. */
interface Senders {
  /** Replaces the Host of calls, so that answers contain URLs of this host. */
  host: string | undefined;
  transport: Transport;
  fetch: (request: Request) => Promise<Response>;
}

/** The control API of one server. Calls reject with ControlError, UnreachableError, or ClosedError after `close()`. */
export class ControlHttp {
  readonly url: string;
  readonly token: string | undefined;
  readonly host: string | undefined;
  readonly fetch: (request: Request) => Promise<Response>;
  private readonly transport: Transport;

  /** @throws AddressError */
  constructor(url: string, token?: string, { host, transport, fetch }: Partial<Senders> = {}) {
    this.url = toAddress(url);
    this.token = token;
    this.host = host;
    this.transport = transport ?? defaultTransport;
    this.fetch = fetch ?? defaultFetch;
  }

  /**
   * Sends JSON, resolves with the JSON that came back; undefined for 204.
   * @param sandbox the sandbox of the call if its path does not name it; load balancers can route by it
   */
  async call<T = unknown>(method: string, path: string, body?: unknown, sandbox?: string): Promise<T> {
    const response = await this.request(method, path, { body, sandbox });
    if (response.status === 204) return undefined as T;
    const answer = parseJson<T>(await response.text());
    if (answer !== undefined) return answer as T;
    throw new ForeignServerError(this.url, `its answer ${response.status} is not JSON`);
  }

  /** Sends a POST, resolves with the bytes of the answer; for files. */
  async fetchBytes(path: string): Promise<Uint8Array> {
    return (await this.request("POST", path, { body: {} })).bytes();
  }

  /** Sends a GET, resolves with the text of the answer; for HAR files and reports. */
  async fetchText(path: string): Promise<string> {
    return (await this.request("GET", path)).text();
  }

  /**
   * The data of a stream of events, by default from its beginning, else after a position. Throws the reason of its
   * signal.
   */
  async *streamEvents<T>(path: string, after?: number, signal?: AbortSignal): AsyncIterableIterator<T> {
    const response = await this.request("GET", path, { after, signal });
    try {
      yield* readEvents<T>(response.chunks());
    } catch (error) {
      throw signal?.aborted ? signal.reason : new UnreachableError(this.url, error);
    }
  }

  /**
   * Resolves if an Understudy answers within `HEALTH_TIMEOUT_MS`.
   * @throws UnreachableError, ForeignServerError, ClosedError; ControlError if it asks for a token
   */
  async fetchHealth(): Promise<Health> {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
    try {
      const response = await this.request("GET", "/_control/health", { signal });
      const health = parseJson<Health>(await response.text());
      if (health?.status === "ok" && typeof health.version === "string") return health as Health;
      const type = response.contentType || "no content type";
      throw new ForeignServerError(this.url, `it answered ${response.status}, ${type}`);
    } catch (error) {
      if (signal.aborted)
        throw new ForeignServerError(this.url, `it was silent for ${HEALTH_TIMEOUT_MS / 1000} seconds`);
      if (error instanceof ControlError && error.problem.type === "about:blank")
        throw new ForeignServerError(this.url, `it answered ${error.status}`);
      throw error;
    }
  }

  private async request(
    method: string,
    path: string,
    { body, after, signal, sandbox }: CallOptions = {},
  ): Promise<Reply> {
    const { url } = this;
    let reply: Reply;
    try {
      reply = await this.transport(url + path, {
        method,
        headers: {
          accept: "application/json",
          ...(this.host ? { host: this.host } : {}),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
          // Any other name is refused, and may have characters that no header can carry.
          ...(/^[a-z0-9-]+$/.test(sandbox ?? "") ? { "x-sandbox": sandbox! } : {}),
          ...(after === undefined ? {} : { "last-event-id": String(after) }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error instanceof ClosedError ? error : new UnreachableError(url, error);
    }
    const throwLost = (error: unknown): never => {
      throw new UnreachableError(url, error);
    };
    const response: Reply = {
      ...reply,
      text: () => reply.text().catch(throwLost),
      bytes: () => reply.bytes().catch(throwLost),
    };
    if (response.status < 200 || response.status > 299)
      throw new ControlError(response.status, await readProblem(response, url));
    return response;
  }
}

interface CallOptions {
  body?: unknown;
  sandbox?: string | undefined;
  /** In a stream of events, the position to go on after. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Undefined for a text that is not JSON; another server may have sent any JSON. */
function parseJson<T>(text: string): Partial<T> | null | undefined {
  try {
    return JSON.parse(text) as Partial<T> | null;
  } catch {
    return undefined;
  }
}

async function readProblem(response: Reply, url: string): Promise<AnsweredProblem> {
  const { status, statusText: title } = response;
  // The body is always read, which frees the connection.
  const text = await response.text();
  const problem = parseJson<ProblemDocument>(text);
  if (String(problem?.type).startsWith("urn:understudy:problem:")) return problem as ProblemDocument;
  const detail = `The server at ${url} answered ${status}, but not in the form of the control API. ${ADDRESS_HINT}`;
  return { type: "about:blank", title, status, detail };
}

/** The data of server-sent events as they come, parsed as JSON; ends with the stream. */
export async function* readEvents<T>(chunks: AsyncIterable<string>): AsyncIterableIterator<T> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, data] = /^data: ([^\n]*)/m.exec(block) ?? [];
      if (data !== undefined) yield JSON.parse(data) as T;
    }
  }
}
