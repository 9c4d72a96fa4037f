import type { IncomingMessage, ServerResponse } from "node:http";
import Type from "typebox";
import { ApiError } from "../engine/contract/errors.ts";
import { readsOnly } from "../engine/contract/operation.ts";
import { toAnswer } from "../engine/pipeline/answer.ts";
import type { Answer } from "../engine/pipeline/exchange.ts";
import { firstBeyond } from "../engine/pipeline/json-numbers.ts";
import { ClientGone, parseJson, readBody } from "../engine/pipeline/read-body.ts";
import { type Match, Router } from "../engine/pipeline/router.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { StreamGate } from "../hosts/node/send.ts";
import { AnswerJudge } from "./answer-judge.ts";
import { checkedQuery, checkInput } from "./check-input.ts";
import { ControlAct } from "./control-act.ts";
import type { ControlOperation, ControlServer } from "./operation.ts";
import { CONTROL_OPERATIONS } from "./operations/index.ts";
import { Problem, unknownName, unprocessable } from "./problem.ts";
import { ReceivedControlCall } from "./received-call.ts";
import { sendAnswer } from "./send-answer.ts";

const AnyObject = Type.Object({});
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Keys and list entries; more than a document may have (document-limits.ts), which says so itself. */
const MAX_VALUES = 250_000;
/** A body that may be larger is a snapshot, which for a large world has millions. */
const MAX_VALUES_OF_LARGE = 4_000_000;

interface Arrival {
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
}

/** The control API: what it finds at a path is answered, or thrown as a Problem. */
export function createControl(server: ControlServer) {
  const router = new Router<ControlOperation>(CONTROL_OPERATIONS);
  const judge = server.judgesAnswers ? new AnswerJudge() : undefined;
  return async (request: IncomingMessage, response: ServerResponse, path: string): Promise<void> => {
    const match = matchCall(router, request.method!, path);
    try {
      const answer = await proceed({ server, judge }, { request, response, path }, match);
      await sendAnswer(request, response, answer, answer.stream && gateOf(server, match));
    } catch (error) {
      if (error instanceof ClientGone) return;
      throw judge?.refusal(match.operation, error) ?? error;
    }
  };
}

/** One call, one line: sandbox, body, query, handler, what it changed, answer. */
async function proceed(
  { server, judge }: { server: ControlServer; judge: AnswerJudge | undefined },
  { request, response, path }: Arrival,
  { operation, params }: Match<ControlOperation>,
): Promise<Answer> {
  const sandbox = params["name"] === undefined ? undefined : sandboxOf(server, params["name"]);
  const mark = server.durability?.mark();
  const call = new ReceivedControlCall(server, { request, response }, { params, sandbox });
  call.body = await receiveBody(operation, request);
  const search = searchOf(request.url!);
  call.query = checkedQuery(search.slice(1), operation.query);
  const value = await handled(operation, call, sandbox);
  const answer = toAnswer(operation, judge ? judge.answer(operation, params, value) : value);
  if (!readsOnly(operation)) noteCall(server, { operation, path: path + search, call, answer });
  // What it shows is as good as acknowledged, also where it was another who changed it.
  await server.durability?.settled(sandbox, mark!, readsOnly(operation));
  return answer;
}

/** Before each piece of a stream, as before any answer. */
function gateOf(
  { durability, sandboxes }: ControlServer,
  { params }: Match<ControlOperation>,
): StreamGate | undefined {
  const sandbox = params["name"] === undefined ? undefined : sandboxes.get(params["name"]);
  if (durability === undefined || sandbox === undefined) return undefined;
  let mark = durability.mark();
  return () => {
    const settled = durability.settled(sandbox, mark, true);
    mark = durability.mark();
    return settled;
  };
}

/** What the handler answers; what it changed stands in the sandbox's history. */
async function handled(
  operation: ControlOperation,
  call: ReceivedControlCall,
  sandbox: Sandbox | undefined,
): Promise<unknown> {
  if (sandbox === undefined || operation.describes === undefined) return operation.handle(call);
  const act = new ControlAct(operation, sandbox);
  call.act = act;
  let value: unknown;
  try {
    value = await sandbox.world.as(act, () => operation.handle(call));
  } finally {
    act.finish(operation, call, value);
  }
  return value;
}

/** @throws Problem 404, 405 */
function matchCall(router: Router<ControlOperation>, method: string, path: string): Match<ControlOperation> {
  const match = router.find(method === "HEAD" ? "GET" : method, path);
  if (match !== undefined) return match;
  const allowed = router.allowed(path);
  if (allowed.length === 0) {
    throw new Problem("unknown-path", {
      detail: `The control API has no ${path.slice(0, 200)}. Its paths begin with /_control/sandboxes, /_control/health, /_control/api.json, /_control/openapi.json, /_control/fidelity and /_control/metrics.`,
    });
  }
  throw new Problem("method-not-allowed", {
    detail: `${path.slice(0, 200)} does not answer ${method.slice(0, 20)}; use ${allowed.join(" or ")}.`,
    headers: { Allow: allowed.join(", ") },
  });
}

/** @throws Problem 404 */
function sandboxOf(server: ControlServer, name: string): Sandbox {
  const sandbox = server.sandboxes.get(name);
  if (sandbox !== undefined) return sandbox;
  const known = [...server.sandboxes.all()].map((one) => one.name);
  throw unknownName("sandbox", name, known);
}

/** @throws Problem 413, 415, 422; ClientGone */
async function receiveBody(operation: ControlOperation, request: IncomingMessage): Promise<unknown> {
  if (operation.method === "GET") {
    request.resume();
    return undefined;
  }
  const spec = operation.body?.kind === "json" ? operation.body : undefined;
  const bytes = await readBody(request, spec?.limit ?? MAX_BODY_BYTES);
  if (bytes.length === 0) {
    if (spec === undefined || spec.optional) return undefined;
    throw new Problem("invalid-input", {
      detail: `${operation.id} needs a JSON body: ${operation.summary}.`,
      field: "body",
      value: null,
    });
  }
  // Also where no body is asked for: a form of a foreign page must not pass for a call.
  const body = readJson(request, bytes, spec?.limit === undefined ? MAX_VALUES : MAX_VALUES_OF_LARGE);
  if (spec === undefined) return undefined;
  checkInput(spec.judged === "by handler" ? AnyObject : spec.schema, body);
  return body;
}

/** Unreadable JSON is 422 here, like everything else that cannot be accepted (interfaces 4). */
function readJson(request: IncomingMessage, bytes: Buffer, maxValues: number): unknown {
  try {
    const { value, text } = parseJson(request, bytes, { optional: false, maxValues });
    const beyond = firstBeyond(text);
    if (beyond === undefined) return value;
    throw unprocessable(beyond.field, beyond.value.toString(), "is beyond what a number can hold exactly");
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "INVALID_JSON") throw error;
    throw new Problem("invalid-json", { detail: error.system_message, field: "body" });
  }
}

/** With its question mark, or empty. */
function searchOf(url: string): string {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark);
}

/** What changed is noted for a bundle before the client hears of it. */
function noteCall(
  server: ControlServer,
  {
    operation,
    path,
    call,
    answer,
  }: { operation: ControlOperation; path: string; call: ReceivedControlCall; answer: Answer },
): void {
  const { sandbox, body } = call;
  if (sandbox === undefined) return;
  server.recordings.onCall(sandbox, {
    operation: operation.id,
    method: operation.method,
    path: path.slice(`/_control/sandboxes/${sandbox.name}`.length),
    body,
    status: answer.status,
  });
}
