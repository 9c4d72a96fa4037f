import { Agent, request } from "undici";

/** A client with JSON and keep-alive connections. Throws an error with the body for an unexpected status. */
export function openClient(url, headers = {}) {
  const dispatcher = new Agent({
    connections: 32,
    pipelining: 1,
    headersTimeout: 300_000,
    bodyTimeout: 300_000,
  });

  async function call(method, path, options = {}) {
    const { body, ok = [200, 201, 202, 204], as = {} } = options;
    const answer = await request(url + path, {
      dispatcher,
      method,
      headers: { ...headers, ...as, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (!ok.includes(answer.statusCode)) {
      throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`);
    }
    return text && /json/.test(answer.headers["content-type"] ?? "") ? JSON.parse(text) : text;
  }

  return {
    get: (path, options) => call("GET", path, options),
    post: (path, body, options) => call("POST", path, { body, ...options }),
    put: (path, body, options) => call("PUT", path, { body, ...options }),
    patch: (path, body, options) => call("PATCH", path, { body, ...options }),
    delete: (path, options) => call("DELETE", path, options),
    stream: (path, as) => request(url + path, { dispatcher, method: "GET", headers: { ...headers, ...as } }),
    close: () => dispatcher.close(),
  };
}

/** A client of a sandbox's control API, with the token if the server needs one. */
export function control(server) {
  const token = server.ready.token;
  return openClient(`${server.url}/_control`, token ? { authorization: `Bearer ${token}` } : {});
}

/** Runs `task(index)` for 0 to count - 1, at most `width` at a time. */
export async function runInParallel(count, width, task) {
  let next = 0;
  const runWorker = async () => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, runWorker));
}
