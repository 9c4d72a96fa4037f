import type { IncomingMessage } from "node:http";
import { BODY_IDLE_MS, ClientGone } from "./read-body.ts";

/**
 * The body as it comes in, no faster than it is taken. Leaving it early keeps the connection, so that
 * the refusal can still be read.
 * @throws ClientGone when the client leaves before the end, or is silent for BODY_IDLE_MS (wall clock)
 */
export async function* bodyStream(request: IncomingMessage): AsyncGenerator<Buffer> {
  const cut = () => request.destroy();
  request.setTimeout(BODY_IDLE_MS, cut);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk;
  } catch {
    throw new ClientGone();
  } finally {
    request.setTimeout(0);
    request.off("timeout", cut);
  }
  if (!request.complete) throw new ClientGone();
}
