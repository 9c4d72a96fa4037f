export interface Answer {
  /** 0: no well-formed answer came. */
  status: number;
  headers: Headers;
  text: string;
  /** Parsed where the content type says JSON and it is; else undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape are judged before they are read
  json: any;
  /** Why there is no answer, or why its body is not what its type says. */
  problem: string | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;
const FIRST_EVENT_MS = 2_000;

export async function readAnswer(response: Response): Promise<Answer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES) throw new Error(`the body is longer than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return toAnswer(response, Buffer.concat(pieces).toString("utf8"));
}

/** A stream's head, up to its first event or for as long as one may take; the caller closes the rest. */
export async function firstEvent(response: Response): Promise<Answer> {
  if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream"))
    return readAnswer(response);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const patience = setTimeout(() => void reader.cancel(), FIRST_EVENT_MS);
  try {
    while (!text.includes("\n\n")) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(patience);
  }
  return toAnswer(response, text);
}

function toAnswer({ status, headers }: Response, text: string): Answer {
  const answer: Answer = { status, headers, text, json: undefined, problem: undefined };
  if (text === "" || !/^application\/([\w.-]+\+)?json\b/.test(headers.get("content-type") ?? ""))
    return answer;
  try {
    answer.json = JSON.parse(text);
  } catch {
    answer.problem = "the body is announced as JSON and is none";
  }
  return answer;
}

/** The cause of fetch's error says why the request failed. */
export function wireProblem(error: unknown): Answer {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  const problem =
    name === "TimeoutError"
      ? "timed out"
      : [cause?.code, cause?.message ?? message]
          .filter((part) => part !== undefined && part !== "")
          .join(": ");
  return { status: 0, headers: new Headers(), text: "", json: undefined, problem };
}
