import { BodyStream } from "../../hosts/node/body-stream.ts";
import { type Head, headText } from "../../hosts/node/head.ts";
import { keepBody } from "../../hosts/node/keep-body.ts";
import type { Log } from "../../hosts/node/log.ts";
import { type StreamGate, send, sendStream } from "../../hosts/node/send.ts";
import { ApiError } from "../contract/errors.ts";
import type { Call, Identity } from "../contract/operation.ts";
import type { FormSpace, Services } from "../contract/services.ts";
import type { InjectedEffect } from "../sandbox/fault-gate.ts";
import type { Actor } from "../sandbox/history-entry.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Transaction } from "../state/transaction.ts";
import type { World } from "../state/world.ts";
import { checkResponse, errorAnswer, internalError, toAnswer } from "./answer.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { EarlyResponse, hasOverride, injectFault } from "./inject-fault.ts";
import { ClientGone } from "./read-body.ts";
import type { ReceivedCall } from "./received-call.ts";
import { record, recordWire } from "./record.ts";
import { refusalReason } from "./refusal-reasons.ts";
import type { Router } from "./router.ts";
import * as step from "./steps.ts";

/** interfaces 2, `--durable`, and 15: what an answer tells of is on disk, or in the fleet's store, before it leaves. */
export interface Durability {
  /** To be asked before anything changes, for `settle`. */
  mark(): number;
  /** Undefined once it is safe; the control layer's answer where it was undone instead. */
  settle(sandbox: Sandbox, mark: number): undefined | Promise<Unsaved | undefined>;
}

export interface Unsaved {
  answer: Answer;
  decision: string;
}

/** What the composition root gives the pipeline; `http` itself names no resource. */
export interface PipelineParts {
  router: Router;
  identify: (
    tx: Transaction,
    headers: Exchange["request"]["headers"],
  ) => Identity | undefined | Promise<Identity | undefined>;
  /** Which credential was found where, and what is wrong with it; for the journal. */
  explainCredentials: (tx: Transaction, headers: Exchange["request"]["headers"]) => Promise<string>;
  /** Section 8's hierarchy, for billable operations. @throws ApiError SPENDING_LIMIT_EXCEEDED */
  requireBudget: (tx: Transaction, principal: Call["principal"]) => void;
  /** interfaces 7: the control layer's answer where a shared server's sandbox would grow too large. */
  refusal: ((world: World, tx: Transaction) => Answer | undefined) | undefined;
  services: (sandbox: Sandbox, by: Actor) => Services;
  /** Where multipart files of this sandbox are received. */
  formSpace: (sandbox: Sandbox) => FormSpace;
  /** Undefined where answers need not wait for the disk. */
  durability: Durability | undefined;
  /** The control layer's answer to what a full disk refuses; undefined for any other failure. */
  diskRefusal: (error: unknown) => Answer | undefined;
  performWire: (
    effect: Extract<InjectedEffect, { kind: "wire" }>,
    exchange: Exchange,
    answer: Answer,
  ) => Promise<void>;
  log: Log;
}

/** One request, one line: from the matched sandbox to the journal. */
export async function handleExchange(parts: PipelineParts, exchange: Exchange): Promise<void> {
  const { durability } = parts;
  const mark = durability?.mark();
  let answer: Answer;
  let wire: EarlyResponse["wire"];
  try {
    answer = await proceed(parts, exchange);
    if (exchange.decision === "") exchange.decision = exchange.delayed_by ?? "ok";
  } catch (error) {
    if (error instanceof ClientGone) return exchange.cleanUp?.();
    if (error instanceof EarlyResponse) {
      exchange.decision = error.decision;
      answer = error.answer;
      wire = error.wire;
    } else if (error instanceof ApiError) {
      if (exchange.decision === "") exchange.decision = exchange.stage;
      await noteRefusal(parts, exchange, error);
      if (error.code === "RATE_LIMIT_EXCEEDED") exchange.rate = step.showSpentRate(exchange);
      answer = errorAnswer(exchange, error);
    } else answer = failed(parts, exchange, error);
  }
  // Also for refusals and broken wires: they were counted, and a rule has come further.
  const settling = durability?.settle(exchange.sandbox, mark!);
  const unsaved = settling && (await settling);
  if (unsaved !== undefined) {
    answer = unsaved.answer;
    exchange.decision = unsaved.decision;
  } else if (wire) {
    recordWire(exchange, wire, answer);
    exchange.cleanUp?.();
    return parts.performWire(wire, exchange, answer);
  }
  let head: Head;
  try {
    head = send(exchange, answer);
  } catch (error) {
    // A header that HTTP cannot carry; nothing has left yet.
    answer = failed(parts, exchange, error);
    head = send(exchange, answer);
  }
  const entry = record(exchange, answer, headText(head));
  if (answer.stream) {
    const gate = durability && gateOf(durability, exchange.sandbox);
    exchange.sandbox.journal.complete(entry, await sendStream(exchange, answer, gate));
  }
  exchange.cleanUp?.();
}

/** Before each piece of a stream, as before any answer. */
function gateOf(durability: Durability, sandbox: Sandbox): StreamGate {
  let mark = durability.mark();
  return () => {
    const settled = durability.settle(sandbox, mark)?.then((unsaved) => {
      if (unsaved !== undefined) throw new Error("what the stream tells of was undone");
    });
    mark = durability.mark();
    return settled;
  };
}

/** interfaces 11: every refusal says why, to the journal alone. */
export async function noteRefusal(
  { explainCredentials }: Pick<PipelineParts, "explainCredentials">,
  exchange: Exchange,
  error: ApiError,
): Promise<void> {
  const { sandbox, request, stage, reasons } = exchange;
  const ofHeaders = stage === "auth" && error.reason === undefined;
  const reason = ofHeaders
    ? await explainCredentials(sandbox.world.read(), request.headers)
    : refusalReason(error, exchange);
  exchange.reasons = [...reasons, reason];
}

/** The stack goes to the log alone (7.1). */
function failed(parts: PipelineParts, exchange: Exchange, error: unknown): Answer {
  const refused = parts.diskRefusal(error);
  if (refused !== undefined) {
    exchange.decision = "store";
    return refused;
  }
  parts.log.error({ err: error, request: exchange.id, operation: exchange.operation?.id }, "internal error");
  exchange.decision = "internal";
  return errorAnswer(exchange, internalError());
}

/** A path of no operation: a rule that answers there by itself does. @throws EarlyResponse */
async function serveOutside(
  { identify }: Pick<PipelineParts, "identify">,
  exchange: Exchange,
): Promise<void> {
  exchange.identity = await identify(exchange.sandbox.world.read(), exchange.request.headers);
  exchange.organization = step.organizationOf(exchange);
  await injectFault(exchange, "before");
}

async function proceed(parts: PipelineParts, exchange: Exchange): Promise<Answer> {
  const { sandbox, request } = exchange;
  try {
    step.matchOperation(parts.router, exchange);
  } catch (error) {
    // interfaces 11: rules may serve what the emulated API lacks.
    if (sandbox.faults.outside !== undefined) await serveOutside(parts, exchange);
    throw error;
  }
  const operation = exchange.operation!;
  const identified = parts.identify(sandbox.world.read(), request.headers);
  exchange.identity = identified instanceof Promise ? await identified : identified;
  exchange.organization = step.organizationOf(exchange);

  const faulty = sandbox.faults.armed || hasOverride(request.headers);
  const struck = faulty ? injectFault(exchange, "before") : undefined;
  if (struck !== undefined) await struck;

  exchange.stage = "auth";
  step.judgeCredentials(exchange);
  exchange.stage = "rate-limit";
  if (exchange.identity && operation.credentials !== false) step.countRequest(exchange, exchange.identity);

  exchange.stage = "validation";
  if (step.streamsBody(operation)) {
    exchange.kept = keepBody(request);
    exchange.uploads = { seen: sandbox.glanceAtUploads() };
  }
  const validated = step.validateCall(exchange, parts.formSpace);
  const call = validated instanceof Promise ? await validated : validated;
  if (operation.identify) {
    exchange.stage = "auth";
    exchange.identity = operation.identify(call.in(sandbox.world.read()));
    call.principal = exchange.identity.principal;
    exchange.organization = step.organizationOf(exchange);
    exchange.stage = "rate-limit";
    step.countRequest(exchange, exchange.identity);
  }

  const prepared = operation.prepare && (await prepare(parts, exchange, call));
  const checked = sandbox.settings.check_answers === "on";
  let value = sandbox.world.transact((tx) => {
    exchange.committed_at = tx.absolute(tx.now);
    const bound = call.in(tx);
    const result = operation.handle(bound, admit(parts, exchange, bound), prepared);
    if (checked) checkResponse(operation, result);
    const full = parts.refusal?.(sandbox.world, tx);
    if (full !== undefined) throw new EarlyResponse("limit", full);
    return result;
  }, exchange);
  if (exchange.uploads !== undefined && exchange.uploads.seen !== sandbox.glanceAtUploads())
    sandbox.recorder.noteBytes(exchange);
  step.spendTokens(exchange, value);
  if (operation.finish) {
    value = await operation.finish(call, value, parts.services(sandbox, exchange));
    if (checked) checkResponse(operation, value);
  }
  const answer = toAnswer(operation, value);
  const spoilt = faulty ? injectFault(exchange, "after", answer) : undefined;
  if (spoilt !== undefined) await spoilt;
  return answer;
}

/** Access, then spending: what the handler may do, and the record that it is about. */
function admit(parts: PipelineParts, exchange: Exchange, call: Call): unknown {
  const operation = exchange.operation!;
  exchange.stage = "access";
  const loaded = operation.access?.(call);
  if (operation.billable) {
    exchange.stage = "spending";
    parts.requireBudget(call.world, call.principal);
  }
  exchange.stage = "rule";
  return loaded;
}

/** Work that waits, before the transaction; judged by the world of then. */
async function prepare(parts: PipelineParts, exchange: Exchange, call: ReceivedCall): Promise<unknown> {
  const { operation, sandbox, request, response } = exchange;
  const bound = call.in(sandbox.world.read());
  const loaded = admit(parts, exchange, bound);
  const gone = new AbortController();
  response.once("close", () => gone.abort(new ClientGone()));
  const stream = new BodyStream(request);
  try {
    const io = { services: parts.services(sandbox, exchange), stream, signal: gone.signal };
    return await operation!.prepare!(bound, loaded, io);
  } finally {
    stream.release();
  }
}
