import { Type } from "typebox";
import { ApiError } from "../engine/contract/errors.ts";
import { normalizePath } from "../engine/contract/http-url.ts";
import { TOO_LARGE } from "../engine/contract/invalid-field.ts";
import { isReadOnly } from "../engine/contract/operation.ts";
import { Router } from "../engine/contract/router.ts";
import { ClosedObject } from "../engine/contract/schema.ts";
import { toAnswer } from "../engine/pipeline/answer.ts";
import { findInexactNumber } from "../engine/pipeline/json-numbers.ts";
import {
  type Answer,
  ClientGoneError,
  type PlainRequest,
  type Site,
  splitTarget,
} from "../engine/pipeline/plain-http.ts";
import { parseJson, readJsonBytes } from "../engine/pipeline/read-body.ts";
import { runSteps, type Step, type StepExchange } from "../engine/pipeline/run-steps.ts";
import type { ChangeSource, HistoryEntry, WorldChange } from "../engine/sandbox/history-entry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { checkInput, parseQuery } from "./check-input.ts";
import { type ControlCall, type ControlOperation, type ControlServer, HISTORY_HEADER } from "./operation.ts";
import { CONTROL_OPERATIONS } from "./operations/index.ts";
import { Problem, unknownName, unprocessable } from "./problem.ts";

/** One call of the control API; the steps fill it in, and its handler reads it. */
class ControlExchange implements ControlCall, StepExchange {
  readonly server: ControlServer;
  readonly request: PlainRequest;
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
  step = "route";
  operation: ControlOperation = undefined as unknown as ControlOperation;
  params: Readonly<Record<string, string>> = {};
  /** Undefined if the path names no sandbox; the operation then does not read it. */
  sandbox: Sandbox = undefined as unknown as Sandbox;
  query: unknown = undefined;
  body: unknown = undefined;
  /** The call in the history, if it may change a world. */
  change: WorldChange | undefined = undefined;
  /** For the step `settle`: how many changes the store had refused when the call began. */
  refusalsBefore: number | undefined = undefined;
  value: unknown = undefined;
  answer: Answer | undefined = undefined;

  constructor(server: ControlServer, request: PlainRequest) {
    const { path, query } = splitTarget(request.target);
    this.server = server;
    this.request = request;
    this.path = normalizePath(path);
    this.search = query;
  }

  get headers(): ControlCall["headers"] {
    return this.request.headers as ControlCall["headers"];
  }

  get site(): Site {
    return this.request.site;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }
}

const AnyObject = Type.Object({});
/** An operation without a body also takes an empty object. */
const NO_BODY = ClosedObject({});
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Maximum number of keys and list entries. The limit of documents is smaller, and has its own message. */
const MAX_VALUES = 250_000;
/** The same for operations with a body limit of their own: a snapshot may have millions. */
const MAX_VALUES_OF_LARGE = 4_000_000;

const router = new Router<ControlOperation>(CONTROL_OPERATIONS);

/** Answers a call; undefined if its client left. @throws Problem and others that `asProblem` knows */
export type HandleControl = (request: PlainRequest) => Promise<Answer | undefined>;

/** Creates the handler of the control API, for any host. */
export function createControl(server: ControlServer): HandleControl {
  return async (request) => {
    const exchange = new ControlExchange(server, request);
    try {
      await runSteps(CONTROL_STEPS, exchange);
    } catch (error) {
      if (error instanceof ClientGoneError) return undefined;
      throw error;
    }
    return delayStream(exchange);
  };
}

/** Makes each piece of a stream wait until the changes that it reports are stored. */
function delayStream({ server, sandbox, answer }: ControlExchange): Answer {
  const { durability } = server;
  const { stream } = answer!;
  if (stream === undefined || durability === undefined || sandbox === undefined) return answer!;
  let refusalsBefore = durability.countRefusals();
  return {
    ...answer!,
    async *stream(signal) {
      for await (const chunk of stream(signal)) {
        const settling = durability.waitUntilStored(sandbox, refusalsBefore, { changesOthers: false });
        refusalsBefore = durability.countRefusals();
        if (settling !== undefined) await settling;
        yield chunk;
      }
    },
  };
}

/** @throws Problem 404, 405 */
function route(exchange: ControlExchange): void {
  const { path } = exchange;
  const { method } = exchange.request;
  const match = router.find(method === "HEAD" ? "GET" : method, path);
  if (match === undefined) throw createRouteProblem(method, path);
  exchange.operation = match.operation;
  exchange.params = match.params;
}

/** For an unknown path, or a method that the path does not answer. */
function createRouteProblem(method: string, path: string): Problem {
  const allowed = router.listMethods(path);
  if (allowed.length === 0) {
    return new Problem("unknown-path", {
      detail: `The control API has no ${path.slice(0, 200)}. GET /_control/api.json lists its paths.`,
    });
  }
  return new Problem("method-not-allowed", {
    detail: `${path.slice(0, 200)} does not answer ${method.slice(0, 20)}; use ${allowed.join(" or ")}.`,
    headers: { Allow: allowed.join(", ") },
  });
}

/** @throws Problem 404 */
function requireSandbox(exchange: ControlExchange): void {
  const { params, server } = exchange;
  const name = params["name"];
  if (name !== undefined) {
    const sandbox = server.sandboxes.get(name);
    const listNames = () => [...server.sandboxes.all()].map((one) => one.name);
    if (sandbox === undefined) throw unknownName("sandbox", name, listNames());
    exchange.sandbox = sandbox;
  }
  exchange.refusalsBefore = server.durability?.countRefusals();
}

/** @throws Problem 413, 415, 422; ClientGoneError */
async function readBody(exchange: ControlExchange): Promise<void> {
  const { operation, request } = exchange;
  if (operation.method === "GET") return;
  const jsonBody = operation.body?.kind === "json" ? operation.body : undefined;
  const bytes = await readJsonBytes(request, jsonBody?.limit ?? MAX_BODY_BYTES);
  if (bytes.length === 0) {
    if (jsonBody === undefined || jsonBody.optional) return;
    throw new Problem("invalid-input", {
      detail: `${operation.id} needs a JSON body: ${operation.summary}.`,
      field: "body",
      value: null,
    });
  }
  // Checked even if the operation takes no body: a form of a foreign page must not be accepted as a call.
  const body = readJson(request, bytes, jsonBody?.limit === undefined ? MAX_VALUES : MAX_VALUES_OF_LARGE);
  if (jsonBody === undefined) return checkInput(NO_BODY, body);
  checkInput(jsonBody.validated === "by handler" ? AnyObject : jsonBody.schema, body);
  exchange.body = body;
}

/** Unreadable JSON is 422 here, like everything else that cannot be accepted (interfaces.md 4). */
function readJson(request: PlainRequest, bytes: Uint8Array, maxValues: number): unknown {
  try {
    const { value, text } = parseJson(request, bytes, { maxValues });
    const inexact = findInexactNumber(text);
    if (inexact === undefined) return value;
    throw unprocessable(inexact.field, inexact.value.toString(), TOO_LARGE);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "INVALID_JSON") throw error;
    throw new Problem("invalid-json", { detail: error.system_message, field: "body" });
  }
}

/** @throws Problem 422 */
function readQuery(exchange: ControlExchange): void {
  exchange.query = parseQuery(exchange.search, exchange.operation.query);
}

/** Runs the operation; its changes become an entry of the sandbox's history. */
async function handle(exchange: ControlExchange): Promise<void> {
  const { operation, sandbox } = exchange;
  if (sandbox === undefined || operation.describeChange === undefined) {
    exchange.value = await operation.handle(exchange);
    return;
  }
  const change = new ControlChange(operation, sandbox);
  exchange.change = change;
  try {
    exchange.value = await sandbox.world.runAs(change, () => operation.handle(exchange));
  } finally {
    change.finish(operation, exchange, exchange.value);
  }
}

function render(exchange: ControlExchange): void {
  const { operation, value, change } = exchange;
  const answer = toAnswer(operation, value);
  const entry = change?.entry;
  exchange.answer =
    entry && exchange.headers[HISTORY_HEADER.toLowerCase()] !== undefined
      ? { ...answer, headers: { ...answer.headers, [HISTORY_HEADER]: entry.id } }
      : answer;
}

/** A changing call is part of bundles, so it is recorded before the client gets its answer. */
function recordCall({ server, operation, sandbox, change, ...exchange }: ControlExchange): void {
  if (sandbox === undefined || isReadOnly(operation)) return;
  const { path, search, body, answer } = exchange;
  const pathInSandbox = path.slice(`/_control/sandboxes/${sandbox.name}`.length);
  const call = {
    operation: operation.id,
    method: operation.method,
    path: search === "" ? pathInSandbox : `${pathInSandbox}?${search}`,
    body,
    status: answer!.status,
  };
  server.recordings.onCall(sandbox, call, change?.entry !== undefined);
}

/**
 * An answer acknowledges everything that it shows, including changes of other clients.
 * @throws StoreRefusal if they were undone
 */
function waitUntilStored({
  server,
  sandbox,
  refusalsBefore,
  operation,
}: ControlExchange): undefined | Promise<void> {
  return server.durability?.waitUntilStored(sandbox, refusalsBefore!, {
    changesOthers: !isReadOnly(operation),
  });
}

const CONTROL_STEPS: readonly Step<ControlExchange>[] = [
  { name: "route", run: route },
  { name: "sandbox", run: requireSandbox },
  { name: "body", run: readBody },
  { name: "query", run: readQuery },
  { name: "handle", run: handle },
  { name: "render", run: render },
  { name: "record", run: recordCall },
  { name: "settle", run: waitUntilStored },
];

/** A control call that may change a sandbox's world, as its history describes it (interfaces.md 10). */
class ControlChange implements WorldChange, ChangeSource {
  readonly kind: WorldChange["kind"];
  readonly operation: string;
  readonly stays: WorldChange["stays"];
  readonly began: NonNullable<WorldChange["began"]>;
  entry: HistoryEntry | undefined = undefined;
  title: string;
  subject: string | undefined = undefined;
  private readonly sandbox: Sandbox;
  private readonly settings: Sandbox["settings"];
  private readonly ownResources: Sandbox["ownResources"];
  private readonly active: readonly unknown[];
  private readonly generation: number;

  constructor(operation: ControlOperation, sandbox: Sandbox) {
    this.kind = operation.kind ?? "control";
    this.operation = operation.id;
    this.stays = operation.stays;
    // Provisional, since an advance can run for minutes.
    this.title = `${operation.summary}.`;
    this.sandbox = sandbox;
    this.settings = sandbox.settings;
    this.ownResources = sandbox.ownResources;
    this.active = sandbox.faults.rules.active;
    sandbox.world.catchUp();
    this.began = { state: sandbox.recorder.getState(), position: sandbox.history.lastSequence };
    this.generation = sandbox.world.generation;
  }

  get change(): WorldChange {
    return this;
  }

  /** Records the call in the history, unless it changed nothing. */
  finish({ describeChange }: ControlOperation, call: ControlCall, answer: unknown): void {
    if (this.entry === undefined && !this.hasChanged()) return;
    const { title, subject } = describeChange!(call, answer);
    this.title = title;
    this.subject = subject;
    this.sandbox.recorder.complete(this);
  }

  private hasChanged(): boolean {
    const { world, settings, faults, ownResources } = this.sandbox;
    const { active } = faults.rules;
    const { clock } = this.began.state.environment;
    // A frozen clock that is set to its own instant is another object.
    const isSameClock =
      clock === world.clock || (clock.rate === 0 && world.clock.rate === 0 && clock.at === world.clock.at);
    return (
      world.generation !== this.generation ||
      settings !== this.settings ||
      ownResources !== this.ownResources ||
      active.length !== this.active.length ||
      active.some((one, place) => one !== this.active[place]) ||
      !isSameClock
    );
  }
}
