import { tryParseJson } from "../../engine/contract/text.ts";
import { ControlError } from "./fetch-control.ts";
import { toInputError } from "./form-fields.ts";

/** A request to the emulated API of a sandbox, sent as one of its users. */
export interface ServiceCall {
  sandbox: string;
  method: string;
  /** Path below the sandbox's base URL, such as `/v1/models?limit=2`. */
  path: string;
  /** API key; undefined sends no credentials. */
  key: string | undefined;
  body?: BodyInit | undefined;
  headers?: Readonly<Record<string, string>>;
}

export const SAFE_METHODS = /^(GET|HEAD|OPTIONS)$/;
/** Methods with which a browser sends no body. */
export const BODILESS_METHODS = /^(GET|HEAD)$/;

export interface ServiceAnswer {
  status: number;
  headers: { name: string; value: string }[];
  requestId: string | undefined;
  text: string;
  /** Undefined if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: responses have many shapes
  json: any;
}

/**
 * All calls of the emulated API go through here. Error statuses are returned, not thrown.
 * @throws ControlError if there is no complete response, or for an invalid header
 */
export async function fetchService(call: ServiceCall): Promise<ServiceAnswer> {
  const { sandbox, method, path, key, body } = call;
  const headers = { ...call.headers, ...(key === undefined ? {} : { "api-key": key }) };
  requireSendable(headers);
  pendingCount += 1;
  const response = await fetch(`/_s/${encodeURIComponent(sandbox)}${path}`, {
    method,
    cache: "no-store",
    credentials: "omit",
    headers,
    body: body ?? null,
  })
    .catch(() => {
      throw new ControlError(
        0,
        "No response: the server is not reachable, or a fault closed the connection.",
      );
    })
    .finally(() => {
      pendingCount -= 1;
    });
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (requestId !== undefined) OWN_REQUESTS.add(`${sandbox} ${requestId}`);
  const { status } = response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const text = await (isStream ? readStart(response) : response.text()).catch(() => {
    throw new ControlError(0, `The connection was lost before the response (${status}) was complete.`);
  });
  return {
    status,
    headers: [...response.headers].map(([name, value]) => ({ name, value })),
    requestId,
    text,
    json: tryParseJson(text),
  };
}

/** @throws ControlError that names the header which browsers cannot send */
function requireSendable(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      throw toInputError(
        name,
        `The header ${name} is not valid: HTTP does not allow a character of its name or value. Nothing was sent.`,
      );
    }
  }
}

/** The requests that this page has sent: sandboxes with the same seed have the same ids. */
const OWN_REQUESTS = new Set<string>();
let pendingCount = 0;

/** Whether this page sent the request. True for every id while one is pending: the live stream may report it before its answer. */
export function isOwnRequest(sandbox: string, id: string): boolean {
  return OWN_REQUESTS.has(`${sandbox} ${id}`) || pendingCount > 0;
}

const STREAM_READ_MS = 2000;

/** Reads the first seconds of a stream, which may never end. */
async function readStart({ body }: Response): Promise<string> {
  const reader = body!.getReader();
  const timer = setTimeout(() => void reader.cancel(), STREAM_READ_MS);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
  }
}
