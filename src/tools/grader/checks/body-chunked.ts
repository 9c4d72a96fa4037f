import type { Check } from "../check.ts";
import { expectAccepted } from "../expectations.ts";

export const bodyChunked: Check = {
  id: "body-chunked",
  title: "Accepts a chunked body, cut anywhere",
  severity: "major",
  why: "A sender or proxy may use chunked transfer coding; there is no Content-Length then, and a chunk can end within a character.",
  advice:
    "Read the body to its end whatever its framing, and join the pieces as bytes; never append them as text.",
  mends: ["no-length", "bad-request", "unauthorized", "hung-up", "method", "exception", "too-large"],
  run(session) {
    const delivery = session.makeDelivery({ event: "user.updated", data: { name: "漢字 😀 ".repeat(40) } });
    const chunkAt = cutsWithinCharacters(delivery.body);
    return expectAccepted(session, [
      { label: "chunks that end within characters", delivery, transport: { chunkAt } },
    ]);
  },
};

/** After the first byte of every tenth character that takes several. */
function cutsWithinCharacters(body: Buffer): number[] {
  const leads = [...body.keys()].filter((index) => body[index]! >= 0xc0);
  return leads.filter((_, index) => index % 10 === 0).map((index) => index + 1);
}
