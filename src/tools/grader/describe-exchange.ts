import type { NoAnswer } from "./send-raw.ts";
import type { Exchange } from "./session.ts";

/** `answered 200 in 12 ms`, `gave no answer: socket hang up`. */
export function describe({ result }: Exchange): string {
  if (result.kind === "left") return "was left without reading the answer";
  if (result.kind === "none") return describeSilence(result);
  const text = excerpt(result.body);
  const location = result.status >= 300 && result.status <= 399 ? result.headers["location"] : undefined;
  const where = location === undefined ? "" : `, a redirect to ${excerpt(Buffer.from(String(location)))}`;
  return `answered ${result.status} in ${result.duration_ms} ms${where}${text === "" ? "" : `: ${text}`}`;
}

function describeSilence({ reason, message, duration_ms }: NoAnswer): string {
  if (reason === "reset") {
    return `closed the connection after ${duration_ms} ms without an answer (${message}); its log should show why: an exception in its handler, or its end`;
  }
  if (reason === "tls") {
    return `gave no answer: ${message}; the service accepts no certificate that it cannot verify (for one of your own, --ca FILE)`;
  }
  return `gave no answer: ${message}`;
}

/** The start of an answer, on one line. */
function excerpt(body: Buffer): string {
  const text = body
    .subarray(0, 400)
    .toString("utf8")
    .replace(/[\p{C}\s]+/gu, " ")
    .trim();
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
