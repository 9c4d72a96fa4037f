import { readEvents } from "./read-events.ts";
import { currentToken, tokenRefused } from "./token.ts";
import type { ProblemDocument } from "./types.ts";

/** Why a call brought nothing: what the control API said, or that it said nothing at all. */
export class ControlError extends Error {
  override readonly name = "ControlError";
  /** 0 where the server was not reached. */
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

  /** The field at fault, such as `settings.preview`. */
  get field(): string | undefined {
    return this.problem?.field;
  }

  /** The last part of the problem's type, such as `unknown-sandbox`. */
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
 * The one place that talks to the server.
 * @throws ControlError for every refusal; a 401 also asks the user for the token
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
      // Last: whoever logs in tries another token than the one there is.
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ControlError(0, "The server does not answer.");
  });
  if (response.ok) return response;
  const problem: ProblemDocument | undefined = await response.json().catch(() => undefined);
  // What was sent before somebody logged in says nothing of the token that there is now.
  if (response.status === 401 && token === currentToken())
    tokenRefused(problem?.detail ?? "This server asks for its control token.");
  throw new ControlError(
    response.status,
    problem?.detail ?? `The server answered ${response.status}.`,
    problem,
  );
}

/** The answer's JSON; undefined where there is none. */
export async function callControl<T>(path: string, call?: ControlCall): Promise<T> {
  const response = await fetchControl(path, call);
  return response.status === 204 ? (undefined as T) : response.json();
}

/** The answer's events, as they come. @throws ControlError for a refusal, and where it breaks off */
export async function* followControl<T>(path: string, call?: ControlCall): AsyncIterable<T> {
  const response = await fetchControl(path, call);
  try {
    for await (const { data } of readEvents(response.body!)) yield JSON.parse(data);
  } catch (error) {
    if (call?.signal?.aborted) throw error;
    throw new ControlError(0, "The answer broke off in the middle; the server may have gone.");
  }
}

/** A path with what is undefined left out of its query. */
export function withQuery(path: string, query: object) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}
