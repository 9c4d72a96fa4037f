import { setTimeout as sleep } from "node:timers/promises";
import type { Wire } from "../../sandbox/fault-gate.ts";

/** A body that is still on its way is waited for this long, in wall milliseconds. */
const DRAIN_MS = 5_000;

/** Resolves when the client has left, or the server ends. */
export function leaves(gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) return resolve();
    gone.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * Reads what the client still sends: a connection that is closed over unread bytes is reset by the system,
 * and the client would see another fault than the one that was asked for.
 */
export async function drained({ request, gone }: Wire): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const ended = new Promise<void>((resolve) => request.once("end", resolve).once("close", resolve));
  request.resume();
  await Promise.race([ended, leaves(gone), sleep(DRAIN_MS, undefined, { ref: false })]);
}

/** Sends the last bytes, if any, and closes in good order. */
export function finish({ socket }: Wire, bytes?: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    socket.once("close", () => resolve());
    if (bytes !== undefined) socket.write(bytes);
    socket.destroySoon();
  });
}
