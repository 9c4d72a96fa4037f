import type { IncomingMessage } from "node:http";
import { BODY_IDLE_MS, ClientGone } from "../../engine/pipeline/read-body.ts";

const LOOK_MS = 3_000;

/**
 * The body as it comes in, no faster than it is taken. Leaving it early keeps the connection, so that
 * the refusal can still be read. A client that brings nothing for BODY_IDLE_MS (wall clock) is cut. What
 * counts is what arrives, not what is read: stalled clients that wait for a turn to write would otherwise
 * be cut one after the other.
 */
export class BodyStream implements AsyncIterable<Buffer> {
  private readonly request: IncomingMessage;
  private readonly watch: NodeJS.Timeout | undefined;

  constructor(request: IncomingMessage) {
    this.request = request;
    if (!request.complete) this.watch = cutWhenIdle(request);
  }

  /** @throws ClientGone when the client leaves before the end, or was cut */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      yield* this.request.iterator({ destroyOnReturn: false });
    } catch {
      throw new ClientGone();
    }
    if (!this.request.complete) throw new ClientGone();
  }

  /** To be called once nobody reads on. */
  release(): void {
    clearInterval(this.watch);
  }
}

function cutWhenIdle(request: IncomingMessage): NodeJS.Timeout {
  const { socket } = request;
  let arrived = socket.bytesRead;
  let idle = 0;
  return setInterval(() => {
    idle = socket.bytesRead === arrived ? idle + LOOK_MS : 0;
    arrived = socket.bytesRead;
    if (idle >= BODY_IDLE_MS) request.destroy();
  }, LOOK_MS);
}
