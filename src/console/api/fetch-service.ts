import { ControlError } from "./fetch-control.ts";

/** A request to the emulated API of a sandbox, as one of its users would send it. */
export interface ServiceCall {
  sandbox: string;
  method: string;
  /** Below the sandbox's base URL, such as `/v1/models?limit=2`. */
  path: string;
  /** An API key; undefined sends no credentials. */
  key: string | undefined;
  body?: BodyInit | undefined;
  headers?: Readonly<Record<string, string>>;
}

export interface ServiceAnswer {
  status: number;
  headers: readonly (readonly [string, string])[];
  /** As it came, text that it is or not. */
  text: string;
  /** Undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: answers have every shape that the API has
  json: any;
}

/**
 * The one place that calls the emulated API. A refusal is an answer like any other.
 * @throws ControlError where the server is not reached
 */
export async function fetchService({
  sandbox,
  method,
  path,
  key,
  body,
  headers,
}: ServiceCall): Promise<ServiceAnswer> {
  const response = await fetch(`/_s/${encodeURIComponent(sandbox)}${path}`, {
    method,
    cache: "no-store",
    credentials: "omit",
    headers: { ...headers, ...(key === undefined ? {} : { "api-key": key }) },
    ...(body === undefined ? {} : { body }),
  }).catch(() => {
    throw new ControlError(0, "No answer came: the server is away, or a fault closed the connection.");
  });
  const endless = response.headers.get("content-type")?.startsWith("text/event-stream");
  const text = await (endless ? beginning(response) : response.text()).catch(() => {
    throw new ControlError(0, `The answer (${response.status}) broke off in the middle.`);
  });
  return {
    status: response.status,
    headers: [...response.headers],
    text,
    json: parsed(text),
  };
}

const STREAM_MS = 2000;

/** What comes of a stream in the first seconds: it may never end. */
async function beginning({ body }: Response): Promise<string> {
  const reader = body!.getReader();
  const stop = setTimeout(() => void reader.cancel(), STREAM_MS);
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  clearTimeout(stop);
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
