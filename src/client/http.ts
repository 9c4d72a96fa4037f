import type { Health, ProblemDocument } from "./types.ts";

/** `about:blank` where something else than the control API answered. */
type Answered = Omit<ProblemDocument, "type"> & { type: ProblemDocument["type"] | "about:blank" };

/** A refusal of the control API, with the problem that it answered (RFC 9457). */
export class ControlError extends Error {
  override readonly name = "ControlError";
  readonly status: number;
  declare readonly problem: Readonly<Answered>;

  constructor(status: number, problem: Answered) {
    super(problem.detail);
    this.status = status;
    // The message says it all: what prints an error would say detail and hint a second time.
    Object.defineProperty(this, "problem", { value: problem });
  }
}

/** Nothing answers at the URL. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(url: string, cause: unknown) {
    // The fetch standard blocks some ports, such as 6000.
    const barred = (cause as { cause?: { message?: string } } | undefined)?.cause?.message === "bad port";
    const said = barred
      ? `No Understudy answers at ${url}: its port is one of those that fetch and browsers refuse. Start it on another.`
      : `No Understudy answers at ${url}. Start one with \`understudy start\`, or name another with --url.`;
    super(said, { cause });
  }
}

/** Something answers at the URL that is no Understudy, or nothing in time. */
export class ForeignServerError extends UnreachableError {
  constructor(url: string, answered: string) {
    super(url, undefined);
    this.message = `What listens at ${url} is no Understudy: ${answered}. Name the address that \`understudy start\` printed.`;
  }
}

/** The given text is not a server's address. */
export class AddressError extends Error {
  override readonly name = "AddressError";

  constructor(given: string) {
    super(
      `${JSON.stringify(given.slice(0, 200))} is no server's address; write it as in http://127.0.0.1:4747`,
    );
  }
}

/** `127.0.0.1:4747` means HTTP. @throws AddressError */
function toAddress(given: string): string {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  if (!URL.canParse(text)) throw new AddressError(given);
  const { protocol, username, password, search, hash } = new URL(text);
  const isPlain = `${username}${password}${search}${hash}` === "";
  if (!/^https?:$/.test(protocol) || !isPlain) throw new AddressError(given);
  return text.replace(/\/+$/, "");
}

/** One that runs answers this at once; a machine may be busy. */
const HEALTH_MS = 8_000;

export interface ControlHttp {
  readonly url: string;
  readonly token: string | undefined;
  /**
   * Sends JSON, resolves with the JSON that came back; undefined for 204.
   * @param sandbox the one that the call is about, where its path does not say so; a balancer may want to know
   * @throws ControlError, UnreachableError
   */
  call<T = unknown>(method: string, path: string, body?: unknown, sandbox?: string): Promise<T>;
  /** The body as text, for HAR files and reports. */
  text(path: string): Promise<string>;
  /**
   * The data of a stream of events, behind the one at a position where that is given. Its signal ends it with
   * whatever the signal was aborted with.
   */
  events<T>(path: string, after?: number, signal?: AbortSignal): AsyncIterableIterator<T>;
  /**
   * Whether an Understudy answers, within some seconds.
   * @throws UnreachableError, ForeignServerError; ControlError of one that asks for a token
   */
  health(): Promise<Health>;
}

export function controlHttp(url: string, token?: string): ControlHttp {
  const base = toAddress(url);
  async function request(
    method: string,
    path: string,
    { body, after, signal, sandbox }: Sent = {},
  ): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(base + path, {
        method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(sandbox === undefined ? {} : { "x-sandbox": sandbox }),
          ...(after === undefined ? {} : { "last-event-id": String(after) }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw new UnreachableError(base, error);
    }
    if (!response.ok) {
      throw new ControlError(response.status, await readProblem(response));
    }
    return response;
  }
  const silent = () => new ForeignServerError(base, `it was silent for ${HEALTH_MS / 1000} seconds`);
  async function health(): Promise<Health> {
    const signal = AbortSignal.timeout(HEALTH_MS);
    let response: Response;
    try {
      response = await request("GET", "/_control/health", { signal });
    } catch (error) {
      if (signal.aborted) throw silent();
      if (!(error instanceof ControlError) || error.problem.type !== "about:blank") throw error;
      throw new ForeignServerError(base, `it answered ${error.status}`);
    }
    const type = response.headers.get("content-type") ?? "no content type";
    const text = await response.text().catch((error: unknown) => {
      if (signal.aborted) throw silent();
      throw new UnreachableError(base, error);
    });
    const found = healthIn(text);
    if (found === undefined) throw new ForeignServerError(base, `it answered ${response.status}, ${type}`);
    return found;
  }
  return {
    health,
    url: base,
    token,
    async call<T>(method: string, path: string, body?: unknown, sandbox?: string) {
      const response = await request(method, path, { body, sandbox });
      if (response.status === 204) return undefined as T;
      try {
        return (await response.json()) as T;
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw new UnreachableError(base, error);
        throw new ForeignServerError(base, `it answered ${response.status} with what is no JSON`);
      }
    },
    text: async (path) => (await request("GET", path)).text(),
    async *events<T>(path: string, after?: number, signal?: AbortSignal) {
      const { body } = await request("GET", path, { after, signal });
      try {
        yield* eventData<T>(body as ReadableStream<Uint8Array>);
      } catch (error) {
        throw signal?.aborted ? signal.reason : new UnreachableError(base, error);
      }
    },
  };
}

interface Sent {
  body?: unknown;
  sandbox?: string | undefined;
  /** Of a stream of events. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
}

function healthIn(text: string): Health | undefined {
  try {
    const health = JSON.parse(text) as Partial<Health> | null;
    return health?.status === "ok" && typeof health.version === "string" ? (health as Health) : undefined;
  } catch {
    return undefined;
  }
}

async function readProblem(response: Response): Promise<Answered> {
  const { status, headers } = response;
  if (headers.get("content-type")?.startsWith("application/problem+json"))
    return (await response.json()) as ProblemDocument;
  const detail = `The server answered ${status}, and not as a control API does.`;
  return { type: "about:blank", title: response.statusText, status, detail };
}

/** The data of server-sent events as they come, parsed as JSON; ends with the stream. */
export async function* eventData<T>(body: ReadableStream<Uint8Array>): AsyncIterableIterator<T> {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, data] = /^data: (.*)$/m.exec(block) ?? [];
      if (data !== undefined) yield JSON.parse(data) as T;
    }
  }
}
