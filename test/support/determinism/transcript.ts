import { request } from "node:http";
import { createMemory, type Mixed, TEMPLATES } from "./mixed-requests.ts";

export interface Target {
  port: number;
  sandbox: string;
}

export interface TranscriptLine {
  request: string;
  status: number;
  headers: string[];
  body: string;
}

const COUNT = 200;
const SETTLE: Mixed = {
  method: "POST",
  path: "/S/clock/advance",
  headers: { "content-type": "application/json" },
  body: '{"by":0}',
};
/** Only these two headers may differ between runs (interfaces.md 5). */
const VARYING_HEADERS = new Set(["date", "service-processing-ms"]);

/** Creates a generator of the same numbers in every process. */
function createRandom(): (below: number) => number {
  let state = 20260315;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Sends 200 mixed requests, the same each time, and returns the responses without the values that may differ. */
export async function recordTranscript(target: Target): Promise<TranscriptLine[]> {
  const draw = createRandom();
  const memory = createMemory();
  const lines: TranscriptLine[] = [];
  // Each template is used at least once, in a drawn order.
  const order = TEMPLATES.map((template) => template);
  while (order.length < COUNT) order.push(TEMPLATES[draw(TEMPLATES.length)]!);
  for (let i = order.length - 1; i > 0; i--) {
    const other = draw(i + 1);
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  for (const { make, remember } of order) {
    const mixed = make(memory, draw);
    // The duration of a webhook attempt is not deterministic, so wait until running attempts have ended.
    await exchange(target, SETTLE);
    const answer = await exchange(target, mixed);
    lines.push({
      request: `${mixed.method} ${mixed.path.replace(/upload_id=.*/, "")}`,
      ...normalizeAnswer(answer, target),
    });
    if (answer.status < 300) remember?.(memory, JSON.parse(answer.body));
  }
  return lines;
}

type Answer = { status: number; headers: string[]; body: string };

function exchange({ port, sandbox }: Target, { method, path, headers, body }: Mixed): Promise<Answer> {
  const target = path.startsWith("/S/")
    ? `/_control/sandboxes/${sandbox}${path.slice(2)}`
    : `${sandbox === "default" ? "" : `/_s/${sandbox}`}${path}`;
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        port,
        method,
        path: target,
        // URLs in responses repeat the Host header. The port differs between processes, so the header has none.
        headers: {
          host: "localhost",
          ...headers,
          ...(body ? { "content-length": Buffer.byteLength(body) } : {}),
        },
      },
      async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        const text = Buffer.concat(chunks).toString("latin1");
        resolve({ status: response.statusCode!, headers: response.rawHeaders, body: text });
      },
    );
    asking.on("error", reject);
    asking.end(body);
  });
}

/** Replaces values that depend on the sandbox's name (secrets) or its address (URLs). */
function normalizeAnswer({ status, headers, body }: Answer, { sandbox }: Target): Answer {
  const compared: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!VARYING_HEADERS.has(headers[i]!.toLowerCase())) compared.push(`${headers[i]}: ${headers[i + 1]}`);
  }
  const blank = body
    .replaceAll(`/_s/${sandbox}/`, "/")
    .replace(/(?<="access_token":"[^".]+\.[^".]+\.)[^"]+/, "SIGNATURE")
    .replace(/(?<="refresh_token":")[^"]+/, "SECRET")
    .replace(/(?<="secret":"whsec_)[^"]+/, "SECRET")
    .replace(/(?<=upload_id=)[\w-]+/, "SECRET")
    // Delivery ids differ between sandboxes, since receivers remember ids.
    .replaceAll(/(?<="del_)[\w-]+/g, "OWN");
  return { status, headers: compared, body: blank };
}
