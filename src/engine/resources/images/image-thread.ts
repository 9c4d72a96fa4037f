// The thread in which an image is made: the build makes a file of its own of this one and what it needs.

import { parentPort, workerData } from "node:worker_threads";
import { ApiError } from "../../contract/errors.ts";
import { type ImageWork, makeImage } from "./make-image.ts";

/** What comes of it; an error as plain values, since a thread passes on no classes. */
export type ImageMade =
  | { bytes: Uint8Array }
  | { refused: Pick<ApiError, "code" | "message" | "system_message" | "details"> };

try {
  const bytes = new Uint8Array(await makeImage(workerData as ImageWork));
  parentPort!.postMessage({ bytes } satisfies ImageMade, [bytes.buffer]);
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  const { code, message, system_message, details } = error;
  parentPort!.postMessage({ refused: { code, message, system_message, details } } satisfies ImageMade);
}
