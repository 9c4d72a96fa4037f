type Json = Record<string, unknown>;

const text = { type: "string" };

/** Of every answer, whichever operation gave it. */
export const STANDARD_HEADERS: Json = {
  "x-request-id": { description: "Unique id of the request; also the trace id of errors", schema: text },
  "service-api-version": { description: "Version of the API in date form", schema: text },
  "service-organization": { description: "Organization that the request acted in", schema: text },
  "service-processing-ms": { description: "Server time in milliseconds", schema: text },
  "X-RateLimit-Limit": { description: "Requests per minute of the plan", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "Requests left in this window", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "End of the window, Unix seconds", schema: { type: "integer" } },
  "x-ratelimit-limit-requests": { description: "As X-RateLimit-Limit", schema: { type: "integer" } },
  "x-ratelimit-remaining-requests": { description: "As X-RateLimit-Remaining", schema: { type: "integer" } },
  "x-ratelimit-reset-requests": { description: "Time to the end of the window, such as `41s`", schema: text },
  "x-ratelimit-limit-tokens": { description: "Tokens per minute (G07)", schema: { type: "integer" } },
  "x-ratelimit-remaining-tokens": { description: "Tokens left in this window", schema: { type: "integer" } },
  "x-ratelimit-reset-tokens": { description: "As x-ratelimit-reset-requests", schema: text },
  "X-Sandbox-Decision": { description: "Understudy's own: what decided this answer", schema: text },
};
