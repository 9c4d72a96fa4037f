import type { ProblemDocument } from "../../../types/control-api.ts";
import { getToken, tokenRequest } from "./store.ts";

/** A failed call: the problem document of the control API, no response at all, or input that the console itself refuses. */
export class ControlError extends Error {
  override readonly name = "ControlError";
  /** 0 if there was no complete response. */
  readonly status: number;
  readonly problem: Partial<ProblemDocument>;
  /** In milliseconds since 1970. */
  readonly time = Date.now();

  constructor(status: number, message: string, problem: Partial<ProblemDocument> = {}) {
    super(message);
    this.status = status;
    this.problem = problem;
  }

  get isUnreachable(): boolean {
    return this.status === 0;
  }

  /** The invalid field, such as `settings.preview`. */
  get field(): string | undefined {
    return this.problem.field;
  }

  /** Last part of the problem type, such as `unknown-sandbox`. */
  get kind(): string | undefined {
    return this.problem.type?.split(":").at(-1);
  }
}

interface ControlCall {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** Called with the id of the history entry of a call that changed something. */
  onEntry?: ((id: string) => void) | undefined;
}

/** Removes a last sentence that advises a call of the control API: the console shows its answer already. */
export function removeCallAdvice(message: string): string {
  return message.replace(/([;.?]) `?GET (?:\/_control\S*|the collection)[^.]*\.$/, (_, end) =>
    end === "?" ? end : ".",
  );
}

/**
 * All calls of the control API go through here.
 * @throws ControlError for an error status or without an answer (a 401 also opens the login dialog); an abort's own error
 */
export async function fetchControl(
  path: string,
  { method = "GET", body, headers, signal }: ControlCall = {},
) {
  const token = getToken();
  const response = await fetch(path, {
    method,
    cache: "no-store",
    credentials: "omit",
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      "x-understudy-history": "wanted",
      // Last, since a login sends another token than the stored one.
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ControlError(0, "Cannot reach the server. Check that it is running.");
  });
  if (response.ok) return response;
  const problem: ProblemDocument | undefined = await response.json().catch(() => undefined);
  // A request sent before a login says nothing about the current token.
  if (response.status === 401 && token === getToken())
    tokenRequest.set(problem?.detail ?? "This server requires its control token.");
  const message = problem?.detail ?? `The server returned status ${response.status}.`;
  throw new ControlError(response.status, removeCallAdvice(message), problem);
}

/** @throws ControlError, always: for a response that ended too early */
export function throwConnectionLost(): never {
  throw new ControlError(0, "The connection was lost before the response was complete.");
}

/** The response as JSON; undefined if it is empty. @throws ControlError for an error status or a lost connection */
export async function callControl<T>(path: string, call?: ControlCall): Promise<T> {
  const response = await fetchControl(path, call);
  const entry = response.headers.get("x-understudy-history");
  if (entry !== null) call?.onEntry?.(entry);
  return response.status === 204 ? (undefined as T) : response.json().catch(throwConnectionLost);
}

/** The response's server-sent events. @throws ControlError for an error status or a lost connection */
export async function* followControl<T>(path: string, call?: ControlCall): AsyncIterable<T> {
  const response = await fetchControl(path, call);
  try {
    for await (const { data } of readEvents(response.body!)) yield JSON.parse(data);
  } catch (error) {
    if (call?.signal?.aborted) throw error;
    throwConnectionLost();
  }
}

/** Reads server-sent events until the stream ends, since EventSource cannot send the token. `id` may be empty. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncIterable<{ id: string; data: string }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const data = /^data: ([^\n]*)/m.exec(block)?.[1];
        if (data !== undefined) yield { id: /^id: (.*)$/m.exec(block)?.[1] ?? "", data };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Appends a query without its undefined and empty values. */
export function appendQuery(path: string, query: object): string {
  const givenValues = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (givenValues.length === 0) return path;
  return `${path}?${new URLSearchParams(givenValues.map(([key, value]) => [key, String(value)]))}`;
}
