import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ApiError } from "../../contract/errors.ts";
import type { ImageMade } from "./image-thread.ts";
import type { ImageWork } from "./make-image.ts";

/** Beside the bundle's chunks; the sources have none, as a thread cannot be started from TypeScript on Node 20. */
const BUILT_THREAD = join(fileURLToPath(import.meta.url), "../../resources/image-thread.js");

/**
 * Makes an image in a thread of its own, because choosing and laying patches takes up to half a second in which no
 * other request would have its turn. Whoever calls it should wait for a turn: each thread takes a core, and ends with the
 * signal. @throws ApiError INVALID_INPUT for broken pixels; the signal's reason
 */
export async function imageInThread(
  work: ImageWork,
  signal: AbortSignal,
  thread = BUILT_THREAD,
): Promise<Buffer> {
  if (!existsSync(thread)) {
    const { makeImage } = await import("./make-image.ts");
    return makeImage(work);
  }
  signal.throwIfAborted();
  const made = await answerOf(new Worker(thread, { workerData: work }), signal);
  if ("bytes" in made) return Buffer.from(made.bytes.buffer);
  const { code, ...told } = made.refused;
  throw new ApiError(code, told);
}

function answerOf(worker: Worker, signal: AbortSignal): Promise<ImageMade> {
  return new Promise<ImageMade>((resolve, reject) => {
    const leave = () => {
      reject(signal.reason);
      void worker.terminate();
    };
    signal.addEventListener("abort", leave);
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => {
      signal.removeEventListener("abort", leave);
      reject(new Error("the thread that made an image ended without one"));
    });
  });
}
