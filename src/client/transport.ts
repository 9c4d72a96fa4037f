/** One call of the control API. */
export interface Call {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The parts of an answer that the library reads. The global `Response` is not used: a test may replace it. */
export interface Reply {
  status: number;
  statusText: string;
  /** Empty if there is none. */
  contentType: string;
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  /** The body as it comes. */
  chunks(): AsyncIterable<string>;
}

/** Sends a call; rejects if no answer comes. */
export type Transport = (url: string, call: Call) => Promise<Reply>;

// Read at import, since a test may replace it later.
const { fetch } = globalThis;
export const defaultFetch = (request: Request): Promise<Response> => fetch(request);

export function createTransport(send: (request: Request) => Promise<Response>): Transport {
  return async (url, call) => {
    const response = await send(new Request(url, { ...call, headers: { ...call.headers } } as RequestInit));
    return {
      status: response.status,
      statusText: response.statusText,
      contentType: response.headers.get("content-type") ?? "",
      text: () => response.text(),
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      chunks: () => response.body!.pipeThrough(new TextDecoderStream()),
    };
  };
}

export class ClosedError extends Error {
  override readonly name = "ClosedError";

  constructor() {
    super("The sandbox is closed: close() was called. Close it after its last use, or create another one.");
  }
}

interface Closable {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** Makes requests after `close()` reject; those before it are answered. */
export function refuseAfterClose<E extends Closable>(engine: E): E {
  const { fetch, close } = engine;
  let isClosed = false;
  return Object.assign(engine, {
    async fetch(request: Request) {
      if (isClosed) throw new ClosedError();
      return fetch(request);
    },
    close() {
      isClosed = true;
      return close();
    },
  });
}
