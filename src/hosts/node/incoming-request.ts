import { IncomingMessage } from "node:http";

/** Takes a body piece by piece as the parser brings it. */
export interface BodyTaker {
  take(chunk: Buffer): void;
  end(): void;
}

/** A request whose body somebody can take past the machinery of streams, which costs more than a small body does. */
export interface IncomingRequest extends IncomingMessage {
  taker: BodyTaker | undefined;
}

/** A class for each server, since Express's prototypes are put under it (see application.ts). */
export function requestClass(): typeof IncomingMessage {
  return class extends IncomingMessage implements IncomingRequest {
    taker: BodyTaker | undefined = undefined;

    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      const { taker } = this;
      if (taker === undefined) return super.push(chunk, encoding);
      if (chunk !== null) {
        taker.take(chunk as Buffer);
        return true;
      }
      // The stream has to know that it has come to its end: the connection is free for the next request then.
      const more = super.push(null);
      taker.end();
      return more;
    }
  };
}

/** Whether nothing of its body has gone into the stream yet. */
export function canBeTaken(request: IncomingMessage): request is IncomingRequest {
  return "taker" in request && !request.complete && request.readableLength === 0;
}
