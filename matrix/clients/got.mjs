import got from "got";
import { base, headers, jittered, work } from "./work.mjs";

const client = got.extend({
  headers,
  followRedirect: false,
  timeout: { request: 3000 },
  retry: {
    limit: 4,
    methods: ["GET"],
    statusCodes: [429, 500, 502, 503, 504],
    calculateDelay: ({ attemptCount, retryAfter, computedValue }) =>
      computedValue === 0 ? 0 : Math.max(retryAfter ?? 0, jittered(attemptCount - 1)),
  },
});
await work(async (method, path, json) => {
  const answer = await client(base + path, { method, json, responseType: "json" });
  if (answer.statusCode >= 300) throw new Error(`HTTP ${answer.statusCode}`);
  return answer.body;
});
