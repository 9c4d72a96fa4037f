import type { BrowserEngine } from "../browser.ts";
import type { AnswerPart, PassedRequest, Port, ReaderMessage } from "./worker-messages.ts";

/** Answers a request that the service worker passed on. Sends a piece of the body whenever the reader asks for the next. */
export async function answerPassed(
  { fetch }: Pick<BrowserEngine, "fetch">,
  { method, url, headers, body }: PassedRequest,
  port: Port,
): Promise<void> {
  const leaving = new AbortController();
  let wake = () => {};
  let requests = 0;
  const send = (part: AnswerPart) => port.postMessage(part);
  port.onmessage = ({ data }: { data: ReaderMessage }) => {
    if (data.type === "abort") leaving.abort();
    else requests += 1;
    wake();
  };
  const taken = async () => {
    while (requests === 0 && !leaving.signal.aborted)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    requests -= 1;
  };
  let isBegun = false;
  try {
    const response = await fetch(
      new Request(url, {
        method,
        headers,
        body: body.byteLength === 0 ? null : body,
        signal: leaving.signal,
      }),
    );
    const isEmpty = response.body === null;
    send({ type: "head", status: response.status, headers: [...response.headers], isEmpty });
    isBegun = !isEmpty;
    for await (const piece of readPieces(response)) {
      await taken();
      send({ type: "piece", bytes: piece });
    }
    if (isBegun) await taken();
    send({ type: "end" });
  } catch {
    // A stream that fails drops the pieces that its reader has not taken.
    if (isBegun) await taken();
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
