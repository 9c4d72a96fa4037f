import type { BrowserEngine } from "../browser.ts";
import { toUtf8 } from "../engine/bytes.ts";
import { unstreamedBodies } from "../hosts/fetch/fetch-answer.ts";
import type { AnswerPart, ForwardedRequest, Port, ReaderMessage } from "./worker-messages.ts";

/**
 * The pause before `broken` is sent, which makes the reader discard all bytes that it has not read yet, in Chromium also
 * those on the way from page to worker.
 */
const DRAIN_MS = 100;

/**
 * Answers a request that the service worker or another tab forwarded: in one message if the body is whole, else with a
 * piece whenever the reader asks for the next.
 */
export async function answerForwarded(
  { fetch }: Pick<BrowserEngine, "fetch">,
  { method, url, headers, body }: ForwardedRequest,
  port: Port,
): Promise<void> {
  const abort = new AbortController();
  let wake = () => {};
  let requestedPieces = 0;
  const send = (part: AnswerPart, transfer?: unknown[]) => port.postMessage(part, transfer);
  port.onmessage = ({ data }: { data: ReaderMessage }) => {
    if (data.type === "abort") abort.abort();
    else requestedPieces += 1;
    wake();
  };
  const waitForReader = async () => {
    while (requestedPieces === 0 && !abort.signal.aborted)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    requestedPieces -= 1;
  };
  let hasBegun = false;
  try {
    const response = await fetch(
      new Request(url, {
        method,
        headers,
        body: body.byteLength === 0 ? null : body,
        signal: abort.signal,
      }),
    );
    const head = { status: response.status, headers: [...response.headers] };
    if (response.body === null) return send({ type: "whole", ...head, bytes: null });
    const wholeBody = unstreamedBodies.get(response);
    if (wholeBody !== undefined) {
      const bytes = typeof wholeBody === "string" ? toUtf8(wholeBody) : wholeBody.slice();
      return send({ type: "whole", ...head, bytes }, [bytes.buffer]);
    }
    send({ type: "head", ...head });
    hasBegun = true;
    for await (const piece of readPieces(response)) {
      await waitForReader();
      send({ type: "piece", bytes: piece });
    }
    send({ type: "end" });
  } catch {
    if (hasBegun) {
      await waitForReader();
      await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
    }
    send({ type: "broken" });
  }
}

/** Uses a reader, since streams are not iterable in every browser. */
async function* readPieces({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
