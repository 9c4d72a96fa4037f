/** An answer with its own status or headers. A plain value of a handler is sent as JSON with the success status. */
export class Reply<T = unknown> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: T;
  /** The value of `X-Sandbox-Decision` for an answer that the operation's handler did not make, such as `example`. */
  readonly decision: string | undefined;

  constructor(status: number, body?: T, headers: Record<string, string> = {}, decision?: string) {
    this.status = status;
    this.body = body as T;
    this.headers = headers;
    this.decision = decision;
  }
}

/**
 * An answer that spends tokens of its key's budget per minute; the rate headers of this very answer show
 * what is left (G07).
 */
export class TokenReply extends Reply {
  readonly tokens: number;

  constructor(body: unknown, tokens: number) {
    super(200, body);
    this.tokens = tokens;
  }
}

/** Bytes or text as they are, with their content type. */
export class RawBody {
  readonly content_type: string;
  readonly bytes: Uint8Array | string;

  constructor(content_type: string, bytes: Uint8Array | string) {
    this.content_type = content_type;
    this.bytes = bytes;
  }
}

/**
 * A body that is produced while it is sent. If the client leaves, the iterator is closed; `signal` aborts one that
 * waits.
 */
export class StreamBody {
  readonly content_type: string;
  readonly chunks: (
    signal: AbortSignal,
  ) => AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

  constructor(content_type: string, chunks: StreamBody["chunks"]) {
    this.content_type = content_type;
    this.chunks = chunks;
  }
}

export const noContent = (): Reply => new Reply(204);
