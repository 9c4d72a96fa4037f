import { EMPTY_BYTES } from "../../engine/bytes.ts";
import type { CompleteAnswer, PlainRequest, SendToSelf } from "../../engine/pipeline/plain-http.ts";
import { readBytes } from "../../engine/pipeline/read-body.ts";
import type { ReceiverRequest, ReceiverResponse } from "../../engine/receivers/receiver.ts";
import { rejectOnAbort, retainUntilAnswered } from "./await-answer.ts";
import { toResponse } from "./fetch-answer.ts";
import { FetchRequest } from "./fetch-request.ts";
import { breakAnswer } from "./fetch-wire.ts";

/** The address of every sandbox in a process. It exists in no network (RFC 6761), so that no request leaves by mistake. */
export const IN_PROCESS_ORIGIN = "http://understudy.test";

/** `api` and `control` resolve with undefined if the caller has left. */
interface FetchRoutes {
  api(request: PlainRequest): Promise<CompleteAnswer | undefined>;
  /** Answers the control API, and 404 for other paths that begin with `/_`. */
  control(request: PlainRequest): Promise<CompleteAnswer | undefined>;
  /** Answers requests below `/_receivers/`. */
  receiver(request: ReceiverRequest): ReceiverResponse | Promise<ReceiverResponse>;
}

/** @param base the path that the API is mounted at, such as `/api` */
export type SandboxFetch = (request: Request, base?: string) => Promise<Response>;

/**
 * Answers requests of the Fetch standard without a socket (interfaces.md 17). Rejects as `fetch` does: with a TypeError
 * if a fault breaks the connection, and with the signal's reason if the caller aborts.
 */
export function createFetch(routes: FetchRoutes): SandboxFetch {
  const answer = async (request: Request, base: string): Promise<Response> => {
    const bytes = request.body === null ? EMPTY_BYTES : new Uint8Array(await request.arrayBuffer());
    const fetchRequest = new FetchRequest(request, bytes, base);
    const { target } = fetchRequest;
    if (target.startsWith("/_receivers/")) return answerReceiver(routes, fetchRequest);
    const isControl = target.startsWith("/_") && !target.startsWith("/_s/");
    const complete = await (isControl ? routes.control(fetchRequest) : routes.api(fetchRequest));
    if (complete === undefined) throw request.signal.reason;
    if (complete.wire !== undefined) return breakAnswer(complete, request);
    return toResponse(complete, request);
  };
  return async (request, base = "") => {
    const response = await retainUntilAnswered(request, rejectOnAbort(request.signal, answer(request, base)));
    // A constructed response has none, and clients resolve links against it.
    return Object.defineProperty(response, "url", { value: request.url.replace(/#.*/s, "") });
  };
}

async function answerReceiver({ receiver }: FetchRoutes, fetchRequest: FetchRequest): Promise<Response> {
  const answer = await receiver({
    method: fetchRequest.method,
    path: fetchRequest.target.replace(/\?.*/s, ""),
    headers: fetchRequest.headers as ReceiverRequest["headers"],
    rawHeaders: fetchRequest.rawHeaders,
    read: (limit) => readBytes(fetchRequest, limit).catch(() => "too-large" as const),
    signal: fetchRequest.signal,
  });
  if (answer === "reset") throw new TypeError("fetch failed");
  // `rejectOnAbort` ends the wait when the caller aborts.
  if (answer === "hang") return new Promise(() => {});
  const { status, headers, body } = answer;
  const headerList = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [name, one]),
  );
  return toResponse({ status, headers: headerList, body, stream: undefined }, fetchRequest);
}

/** Sends requests to this process's own engine, for hosts that do not listen. */
export function createSendInProcess(fetch: SandboxFetch): SendToSelf {
  return async ({ method, target, headers, body }, signal) => {
    const request = new Request(IN_PROCESS_ORIGIN + target, {
      method,
      headers: headers.filter(([name]) => name!.toLowerCase() !== "host") as [string, string][],
      body: body as Uint8Array<ArrayBuffer>,
      ...(signal && { signal }),
    });
    const answer = await fetch(request);
    return {
      status: answer.status,
      headers: [...answer.headers].flat(),
      body: new Uint8Array(await answer.arrayBuffer()),
    };
  };
}
