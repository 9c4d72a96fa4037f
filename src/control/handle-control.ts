import type { IncomingMessage, ServerResponse } from "node:http";
import type { TObject } from "typebox";
import { ApiError } from "../contract/errors.ts";
import { RawBody, Reply, StreamBody } from "../contract/operation.ts";
import { ClientGone, parseJson, readBody } from "../http/read-body.ts";
import { Router } from "../http/router.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { checkInput } from "./check-input.ts";
import type { AnyControlOperation, ControlCall, ControlServer } from "./operation.ts";
import { Problem, unknownName } from "./problem.ts";
import { readQuery } from "./read-query.ts";
import { type ControlAnswer, sendAnswer } from "./send-answer.ts";

const BODY_LIMIT = 16 * 1024 * 1024;

/** The control API as one line: route, sandbox, body, shape, handler, answer. */
export function createControl(server: ControlServer, operations: readonly AnyControlOperation[]) {
  const router = new Router<AnyControlOperation>(operations);
  return async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const method = request.method === "HEAD" ? "GET" : request.method!;
    const match = router.find(method, path);
    if (match === undefined) throw noSuchCall(router, method, path);
    const { operation, params } = match;
    const sandbox = params["name"] === undefined ? undefined : sandboxOf(server, params["name"]);
    let body: unknown;
    try {
      body = await bodyOf(operation, request);
    } catch (error) {
      if (error instanceof ClientGone) return;
      throw error;
    }
    if (operation.params) checkInput(operation.params as TObject, params);
    const query = readQuery(operation.query, searchOf(request.url!));
    const call: ControlCall = {
      params,
      query,
      body,
      headers: request.headers,
      // Only operations below S read it, and those have it.
      sandbox: sandbox as Sandbox,
      server,
      origin: `http://${request.headers.host}`,
      // Few calls wait for anything, and a controller costs as much as a small answer.
      get signal() {
        return leaving(response);
      },
    };
    const answer = toAnswer(operation, await operation.handle(call));
    if (changes(operation)) {
      await settle(server, { operation, path: path + queryOf(request.url!), call, status: answer.status });
    }
    await sendAnswer(request, response, answer);
  };
}

/** Aborts when the client leaves. */
function leaving(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once("close", () => gone.abort());
  return gone.signal;
}

function queryOf(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark);
}

function searchOf(url: string): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
}

/** What changed is on disk, where that was asked for, and noted for a bundle, before the client hears of it. */
async function settle(
  server: ControlServer,
  done: { operation: AnyControlOperation; path: string; call: ControlCall; status: number },
): Promise<void> {
  const { operation, path, call, status } = done;
  if (call.sandbox === undefined) return;
  server.onChangingCall?.(call.sandbox, {
    operation: operation.id,
    method: operation.method,
    path: path.slice(`/_control/sandboxes/${call.sandbox.name}`.length),
    body: call.body,
    status,
  });
  if (server.durable && server.sandboxes.get(call.sandbox.name) === call.sandbox) {
    await server.durable(call.sandbox);
  }
}

function changes(operation: AnyControlOperation): boolean {
  return operation.changes ?? operation.method !== "GET";
}

/** @throws Problem 404 */
export function sandboxOf(server: ControlServer, name: string): Sandbox {
  const sandbox = server.sandboxes.get(name);
  if (sandbox === undefined) {
    throw unknownName(
      "sandbox",
      name,
      [...server.sandboxes.all()].map((known) => known.name),
    );
  }
  return sandbox;
}

async function bodyOf(operation: AnyControlOperation, request: IncomingMessage): Promise<unknown> {
  if (operation.method === "GET") {
    request.resume();
    return undefined;
  }
  const bytes = await readBody(request, operation.body?.limit ?? BODY_LIMIT);
  if (bytes.length === 0) {
    if (operation.body === undefined || operation.body.optional) return undefined;
    throw new Problem(422, {
      kind: "invalid-input",
      detail: `${operation.id} needs a JSON body: ${operation.summary}.`,
      field: "body",
      value: null,
    });
  }
  // Also where no body is asked for: a form of a foreign page must not pass for a call.
  const body = readJson(request, bytes);
  if (operation.body === undefined) return undefined;
  checkInput(operation.body.schema, body);
  return body;
}

/** Unreadable JSON is 422 here, like everything else that cannot be accepted (interfaces 4). */
function readJson(request: IncomingMessage, bytes: Buffer): unknown {
  try {
    return parseJson(request, bytes, false);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "INVALID_JSON") throw error;
    throw new Problem(422, {
      kind: "invalid-json",
      title: "The body is not valid JSON",
      detail: error.system_message,
      field: "body",
    });
  }
}

function toAnswer(operation: AnyControlOperation, value: unknown): ControlAnswer {
  const reply = value instanceof Reply ? value : new Reply(operation.status ?? 200, value);
  const { status, headers, body } = reply;
  if (body instanceof RawBody) return { status, headers, content_type: body.content_type, body: body.bytes };
  if (body instanceof StreamBody)
    return { status, headers, content_type: body.content_type, stream: body.chunks };
  if (body === undefined) return { status, headers };
  return { status, headers, content_type: "application/json; charset=utf-8", body: JSON.stringify(body) };
}

function noSuchCall(router: Router<AnyControlOperation>, method: string, path: string): Problem {
  const allowed = router.allowed(path);
  if (allowed.length === 0) {
    return new Problem(404, {
      kind: "unknown-path",
      detail: `The control API has no ${path.slice(0, 200)}. Its paths begin with /_control/sandboxes, /_control/health, /_control/openapi.json, /_control/fidelity and /_control/metrics.`,
    });
  }
  return new Problem(405, {
    kind: "method-not-allowed",
    detail: `${path.slice(0, 200)} does not answer ${method.slice(0, 20)}; use ${allowed.join(" or ")}.`,
    headers: { Allow: allowed.join(", ") },
  });
}
