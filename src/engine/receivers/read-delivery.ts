import type { IncomingMessage } from "node:http";

/** The raw bytes of a delivery, or why there are none: its sender left, or it is longer than `limit` bytes. */
export function readDelivery(
  request: IncomingMessage,
  limit: number,
): Promise<Buffer | "gone" | "too-large"> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        request.pause();
        resolve("too-large");
      }
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("close", () => resolve("gone"));
    request.once("error", () => resolve("gone"));
  });
}
