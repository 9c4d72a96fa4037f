import { eventData } from "./event-stream.ts";
import type { ProblemDocument } from "./types.ts";

/** `about:blank` where something else than the control API answered. */
type Answered = Omit<ProblemDocument, "type"> & { type: ProblemDocument["type"] | "about:blank" };

/** A refusal of the control API, with the problem that it answered (RFC 9457). */
export class ControlError extends Error {
  override readonly name = "ControlError";
  readonly status: number;
  readonly problem: Readonly<Answered>;

  constructor(status: number, problem: Answered) {
    super(problem.detail);
    this.status = status;
    this.problem = problem;
  }
}

/** Nothing answers at the URL. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(url: string, cause: unknown) {
    // The fetch standard bars some ports, such as 6000, whoever listens there.
    const barred = (cause as { cause?: { message?: string } } | undefined)?.cause?.message === "bad port";
    const said = barred
      ? `No Understudy answers at ${url}: its port is one of those that fetch and browsers refuse. Start it on another.`
      : `No Understudy answers at ${url}. Start one with \`understudy start\`, or name another with --url.`;
    super(said, { cause });
  }
}

export interface ControlHttp {
  readonly url: string;
  readonly token: string | undefined;
  /** Sends JSON, resolves with the JSON that came back; undefined for 204. @throws ControlError, UnreachableError */
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  /** The body as text, for HAR files and reports. */
  text(path: string): Promise<string>;
  /** The data of a stream of events, behind the one at a position where that is given. */
  events<T>(path: string, after?: number): AsyncIterableIterator<T>;
}

export function controlHttp(url: string, token?: string): ControlHttp {
  const base = url.replace(/\/+$/, "");
  async function request(method: string, path: string, body?: unknown, after?: number): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(base + path, {
        method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(after === undefined ? {} : { "last-event-id": String(after) }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (error) {
      throw new UnreachableError(base, error);
    }
    if (!response.ok) {
      throw new ControlError(response.status, await problemOf(response));
    }
    return response;
  }
  return {
    url: base,
    token,
    async call<T>(method: string, path: string, body?: unknown) {
      const response = await request(method, path, body);
      if (response.status === 204) return undefined as T;
      return (await response.json()) as T;
    },
    text: async (path) => (await request("GET", path)).text(),
    async *events<T>(path: string, after?: number) {
      const { body } = await request("GET", path, undefined, after);
      yield* eventData<T>(body as ReadableStream<Uint8Array>);
    },
  };
}

async function problemOf(response: Response): Promise<Answered> {
  const { status, headers } = response;
  if (headers.get("content-type")?.startsWith("application/problem+json"))
    return (await response.json()) as ProblemDocument;
  const detail = `The server answered ${status}, and not as a control API does.`;
  return { type: "about:blank", title: response.statusText, status, detail };
}
