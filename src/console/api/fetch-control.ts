import type { ProblemDocument } from "../../../types/control-api.ts";
import { currentToken, requestToken } from "./token.ts";

/** A failed call: the problem document of the control API, or no response at all. */
export class ControlError extends Error {
  override readonly name = "ControlError";
  /** 0 if the server could not be reached. */
  readonly status: number;
  readonly problem: ProblemDocument | undefined;

  constructor(status: number, message: string, problem?: ProblemDocument) {
    super(message);
    this.status = status;
    this.problem = problem;
  }

  get unreachable(): boolean {
    return this.status === 0;
  }

  /** The invalid field, such as `settings.preview`. */
  get field(): string | undefined {
    return this.problem?.field;
  }

  /** Last part of the problem type, such as `unknown-sandbox`. */
  get kind(): string | undefined {
    return this.problem?.type.split(":").at(-1);
  }
}

export interface ControlCall {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/**
 * All calls of the control API go through here.
 * @throws ControlError for every error status; a 401 also opens the login dialog
 */
export async function fetchControl(
  path: string,
  { method = "GET", body, headers, signal }: ControlCall = {},
) {
  const token = currentToken();
  const response = await fetch(path, {
    method,
    cache: "no-store",
    credentials: "omit",
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      // Last, since a login sends another token than the stored one.
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ControlError(0, "Cannot reach the server.");
  });
  if (response.ok) return response;
  const problem: ProblemDocument | undefined = await response.json().catch(() => undefined);
  // A request sent before a login says nothing about the current token.
  if (response.status === 401 && token === currentToken())
    requestToken(problem?.detail ?? "This server requires its control token.");
  throw new ControlError(
    response.status,
    problem?.detail ?? `The server returned status ${response.status}.`,
    problem,
  );
}

/** The response as JSON; undefined if it is empty. */
export async function callControl<T>(path: string, call?: ControlCall): Promise<T> {
  const response = await fetchControl(path, call);
  return response.status === 204 ? (undefined as T) : response.json();
}

/** The response's server-sent events. @throws ControlError for an error status or a lost connection */
export async function* followControl<T>(path: string, call?: ControlCall): AsyncIterable<T> {
  const response = await fetchControl(path, call);
  try {
    for await (const { data } of readEvents(response.body!)) yield JSON.parse(data);
  } catch (error) {
    if (call?.signal?.aborted) throw error;
    throw new ControlError(0, "The connection was lost before the response was complete.");
  }
}

/** Appends a query without its undefined and empty values. */
export function withQuery(path: string, query: object) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

/** A server-sent event; comments and other fields are ignored. */
export interface ServerEvent {
  id: string;
  data: string;
}

/** Reads server-sent events; EventSource cannot send the token. Ends with the stream. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncIterable<ServerEvent> {
  let rest = "";
  const reader = body
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  const field = (name: string) =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field("data");
  return data === undefined ? undefined : { id: field("id") ?? "", data };
}
