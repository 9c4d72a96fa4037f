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
