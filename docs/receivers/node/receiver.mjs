// A webhook receiver with nothing but Node (20 or newer). Run it:
//   WEBHOOK_SECRET=whsec_... PORT=3000 node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const MAX_BODY_BYTES = 1024 * 1024;

/** A refusal: the status and a text that gives nothing away. */
class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

export function createReceiver(secret) {
  if (!secret) throw new Error("the signing secret is missing");

  // In production this is a table with a unique key on the delivery id, written in the same transaction
  // as the side effect, whose rows are kept for longer than the 24 hours in which retries may come.
  const processed = [];
  /** delivery id -> the promise of its processing, so that a copy that arrives meanwhile waits for it */
  const known = new Map();

  async function sideEffect(payload) {
    // Your work goes here. Ignore events that you have no use for; never refuse them.
    processed.push(payload.delivery_id);
  }

  function processOnce(payload) {
    const running = known.get(payload.delivery_id);
    if (running) return running;
    // There is no await between the look-up and this line: two copies can't both get here.
    const work = sideEffect(payload).catch((error) => {
      known.delete(payload.delivery_id); // it failed, so the retry has to do it
      throw error;
    });
    known.set(payload.delivery_id, work);
    return work;
  }

  async function receive(request) {
    const body = await readBody(request);
    // First the signature, over the bytes as they came; nothing in the request is to be trusted before.
    if (!isSigned(secret, body, request.headers["x-service-signature"])) {
      throw new Refusal(401, "invalid signature");
    }
    const payload = parse(body);
    await processOnce(payload);
  }

  return createServer(async (request, response) => {
    try {
      const path = request.url.split("?")[0];
      if (path === "/processed" && request.method === "GET") {
        return answer(response, 200, JSON.stringify(processed));
      }
      if (path !== "/webhook") throw new Refusal(404, "not found");
      if (request.method !== "POST") {
        response.setHeader("Allow", "POST");
        throw new Refusal(405, "POST only");
      }
      await receive(request);
      answer(response, 200, '{"received":true}');
    } catch (error) {
      // Also reached when the sender hangs up half-way; answering then does no harm.
      if (!(error instanceof Refusal) && error.code !== "ECONNRESET") console.error(error);
      const [status, text] =
        error instanceof Refusal ? [error.status, error.message] : [500, "internal error"];
      answer(response, status, JSON.stringify({ error: text }));
    }
  });
}

function answer(response, status, json) {
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close" }).end(json);
}

/** The raw bytes: joined as bytes, since a chunk may end within a character. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  // Leaving the loop must not destroy the connection: the refusal still has to travel on it.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Refusal(413, "body too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Compares the whole header value, prefix included, in constant time. */
function isSigned(secret, body, header) {
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(body).digest("hex")}`);
  const given = Buffer.from(header ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Looks at the fields it needs and at no others: more may be added at any time. */
function parse(body) {
  let payload;
  try {
    payload = JSON.parse(body.toString("utf8"));
  } catch {
    throw new Refusal(400, "the body is not JSON");
  }
  if (typeof payload?.delivery_id !== "string" || typeof payload.event !== "string") {
    throw new Refusal(400, "event or delivery_id is missing");
  }
  return payload;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const secret = process.env.WEBHOOK_SECRET;
  if (!secret) {
    console.error("Set WEBHOOK_SECRET to the webhook's signing secret (whsec_...).");
    process.exit(2);
  }
  const server = createReceiver(secret);
  server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
    console.log(`listening on http://127.0.0.1:${server.address().port}/webhook`);
  });
}
