import { QueryClient } from "@tanstack/query-core";
import { base, headers, jittered, work } from "./work.mjs";

class HttpError extends Error {
  constructor(answer) {
    super(`HTTP ${answer.status}`);
    this.status = answer.status;
    this.wait = Number(answer.headers.get("retry-after") ?? 0) * 1000;
  }
}

async function request(method, path, body) {
  const answer = await fetch(base + path, {
    ...{ method, redirect: "error", signal: AbortSignal.timeout(3000) },
    headers: { ...headers, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new HttpError(answer);
  return answer.json();
}

const client = new QueryClient();
await work((method, path, body) =>
  method === "GET"
    ? client.fetchQuery({
        queryKey: [path],
        queryFn: () => request(method, path),
        retry: (count, error) =>
          count < 4 &&
          (error.status === undefined
            ? error.name !== "SyntaxError"
            : error.status === 429 || error.status >= 500),
        retryDelay: (count, error) => Math.max(error.wait ?? 0, jittered(count)),
      })
    : request(method, path, body),
);
