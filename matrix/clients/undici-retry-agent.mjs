import { Agent, fetch, RetryAgent } from "undici";
import { base, headers, work } from "./work.mjs";

const dispatcher = new RetryAgent(new Agent({ headersTimeout: 3000, bodyTimeout: 3000 }), {
  maxRetries: 4,
  minTimeout: 200,
  timeoutFactor: 2,
  methods: ["GET"],
  statusCodes: [429, 500, 502, 503, 504],
  errorCodes: ["ECONNRESET", "ECONNREFUSED", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT"],
});
await work(async (method, path, body) => {
  const answer = await fetch(base + path, {
    ...{ method, dispatcher, redirect: "error" },
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.json();
});
