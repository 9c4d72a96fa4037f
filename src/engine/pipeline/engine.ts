import { ApiError, OwnOperationError } from "../contract/errors.ts";
import { clip } from "../contract/text.ts";
import type { JournalEntry } from "../sandbox/journal-entry.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { toRefusalAnswer } from "./answer.ts";
import { BodyCapture, type CapturedStream } from "./body-capture.ts";
import type { EngineParts } from "./engine-parts.ts";
import { Exchange } from "./exchange.ts";
import { EarlyResponse } from "./inject-fault.ts";
import {
  type Address,
  type Answer,
  ClientGoneError,
  type CompleteAnswer,
  type InjectedWire,
  type PlainRequest,
} from "./plain-http.ts";
import { recordRequest, recordWire } from "./record.ts";
import {
  type AddressRefusal,
  answerPreflight,
  completeAnswer,
  describeMisdirected,
  describeNoSandbox,
  describeUnknownSandbox,
  refuseAddress,
} from "./response-headers.ts";
import { runSteps } from "./run-steps.ts";
import { REQUEST_STEPS, toRefusalRate } from "./steps.ts";

/** Answers a request of the emulated API. Undefined if its client left. */
export async function handleRequest(
  engine: EngineParts,
  request: PlainRequest,
  { sandbox, address }: { sandbox: Sandbox | undefined; address: Address },
): Promise<CompleteAnswer | undefined> {
  const { refuseDefault, listSandboxes } = engine;
  const { onlySandbox } = request.site;
  const refuse = (refusal: AddressRefusal) => refuseAddress(refusal, request, sandbox?.settings);
  if (onlySandbox !== undefined && onlySandbox !== address.sandbox)
    return refuse(describeMisdirected(onlySandbox));
  if (refuseDefault && address.sandbox === "default") return refuse(describeNoSandbox(listSandboxes?.()));
  if (sandbox === undefined) return refuse(describeUnknownSandbox(address.sandbox, listSandboxes?.()));
  const preflight = answerPreflight(request, sandbox.settings);
  if (preflight !== undefined) return preflight;
  sandbox.world.catchUp();
  const exchange = new Exchange(engine, { sandbox, request, address });
  const { durability } = engine;
  const refusalsBefore = durability?.countRefusals();
  let decidedAnswer: DecidedAnswer | undefined;
  try {
    // Most requests wait for nothing: a step that waits costs as much as a small answer.
    const running = runSteps(REQUEST_STEPS, exchange);
    if (running !== undefined) await running;
    exchange.decision ||= exchange.delayed_by ?? exchange.answer!.decision ?? "ok";
    decidedAnswer = { answer: exchange.answer! };
  } catch (error) {
    decidedAnswer = await toDecidedAnswer(exchange, error);
  }
  if (decidedAnswer === undefined) return void exchange.cleanUp();
  recordRefusal(exchange, decidedAnswer);
  // Refusals and broken connections are stored too, since they change counts and the progress of rules.
  const storing = durability?.waitUntilStored(sandbox, refusalsBefore!);
  const replacement = storing && (await storing);
  if (replacement === undefined) return completeAndRecord(exchange, decidedAnswer);
  exchange.decision = replacement.decision;
  return completeAndRecord(exchange, replacement);
}

/** Lets the history say that a change was made and refused, before the change is stored. */
function recordRefusal({ sandbox, historyChange, code }: Exchange, { answer, wire }: DecidedAnswer): void {
  const entry = historyChange?.entry;
  if (entry === undefined) return;
  const isBroken = wire !== undefined && !wire.fault.shows_status;
  if (!isBroken && answer.status < 400) return;
  entry.recordAnswer({ status: isBroken ? 0 : answer.status, code, response_body: answer.body });
  sandbox.history.touch(entry);
}

interface DecidedAnswer {
  answer: Answer;
  wire?: InjectedWire | undefined;
}

/** Turns the error of a step into an answer; undefined if the client left. */
async function toDecidedAnswer(exchange: Exchange, error: unknown): Promise<DecidedAnswer | undefined> {
  if (error instanceof ClientGoneError) return undefined;
  if (error instanceof EarlyResponse) {
    exchange.decision = error.decision;
    return error;
  }
  if (!(error instanceof ApiError)) return { answer: toFailureAnswer(exchange, error) };
  exchange.decision ||= exchange.step;
  await addRefusalReason(exchange, error);
  if (error.code === "RATE_LIMIT_EXCEEDED") exchange.rate = toRefusalRate(exchange);
  return { answer: toRefusalAnswer(exchange, error) };
}

/** Adds the reason to the journal; the answer does not contain it (interfaces.md 11). */
export async function addRefusalReason(exchange: Exchange, error: ApiError): Promise<void> {
  const { step, reasons } = exchange;
  const isAboutCaller = step === "auth" && error.reason === undefined;
  const reason = isAboutCaller ? await explainCaller(exchange) : findRefusalReason(error, exchange);
  exchange.reasons = [...reasons, reason];
}

function explainCaller({ engine, sandbox, request, credentialHeaders }: Exchange): Promise<string> {
  const isElsewhere = credentialHeaders !== request.headers;
  const prefix = isElsewhere ? "the credential that the document's security scheme names is" : undefined;
  return engine.explainCredentials(sandbox.world.read(), credentialHeaders, prefix);
}

/** Only the log gets the stack (section 7.1); of an own operation's error, the message has the place. */
function toFailureAnswer(exchange: Exchange, error: unknown): Answer {
  const { engine, id, operation } = exchange;
  const hostRefusal = engine.toHostRefusal(error);
  exchange.decision = hostRefusal === undefined ? "internal" : "store";
  if (hostRefusal !== undefined) return hostRefusal;
  const about = { request: id, operation: operation?.id };
  if (error instanceof OwnOperationError) {
    exchange.reasons = [...exchange.reasons, error.message];
    engine.log.error(about, error.message);
  } else engine.log.error({ err: error, ...about }, "internal error");
  return toRefusalAnswer(exchange, new ApiError("INTERNAL_ERROR"));
}

/** Adds the headers of every answer, and writes the journal. */
function completeAndRecord(exchange: Exchange, { answer, wire }: DecidedAnswer): CompleteAnswer {
  let complete: CompleteAnswer;
  try {
    complete = completeAnswer(exchange, answer);
  } catch (error) {
    // The answer has a header that HTTP cannot carry.
    return completeAndRecord(exchange, { answer: toFailureAnswer(exchange, error) });
  }
  complete.wire = wire;
  const { headers } = complete;
  if (wire !== undefined) recordWire(exchange, wire, { answer, headers });
  else {
    const entry = recordRequest(exchange, answer, headers);
    if (answer.stream !== undefined) {
      complete.stream = recordStream(exchange, answer.stream, entry);
      return complete;
    }
  }
  exchange.cleanUp();
  return complete;
}

/** The same stream, recorded; each piece waits until the changes that it reports are stored, as any answer does. */
function recordStream(
  exchange: Exchange,
  stream: NonNullable<Answer["stream"]>,
  entry: JournalEntry,
): CompleteAnswer["stream"] {
  const { sandbox } = exchange;
  const waitUntilStored = createStorageWait(exchange);
  return async function* (signal) {
    const capture = new BodyCapture({ withDigest: true });
    let sentBody: CapturedStream | undefined;
    try {
      for await (const chunk of stream(signal)) {
        const storing = waitUntilStored();
        if (storing !== undefined) await storing;
        if (signal.aborted) return;
        capture.add(chunk);
        yield chunk;
      }
      if (!signal.aborted) sentBody = capture.end();
    } finally {
      sandbox.journal.complete(entry, sentBody);
      exchange.cleanUp();
    }
  };
}

/** @returns a function that waits until all changes since its last call are stored, and throws if one was undone */
function createStorageWait({ engine: { durability }, sandbox }: Exchange): () => undefined | Promise<void> {
  if (durability === undefined) return () => undefined;
  let refusalsBefore = durability.countRefusals();
  return () => {
    const storing = durability.waitUntilStored(sandbox, refusalsBefore)?.then((replacement) => {
      if (replacement !== undefined) throw new Error("a change that the stream reports was undone");
    });
    refusalsBefore = durability.countRefusals();
    return storing;
  };
}

/**
 * Why a request was refused, for the journal (interfaces.md 11): for a 404 the id that was not found, for a 422 the field
 * and its rule, for a 403 the missing role. `resources/auth` says why a credential was refused.
 */
function findRefusalReason(error: ApiError, { method, path, step }: Exchange): string {
  const { details, reason, status, system_message } = error;
  if (step === "route") return status === 405 ? `${path} does not answer ${method}` : system_message;
  const facts = Object.entries(details)
    .map(([name, value]) => `${name} ${toText(value)}`)
    .join(", ");
  if (status === 404 && facts !== "")
    return `${facts} was not found: ${reason ?? "it does not exist, or the caller has no access to it"}`;
  if (reason !== undefined) return reason;
  // The value is in the entry's request, with secrets masked by their field.
  const { field } = details;
  if (typeof field === "string") {
    const missing = details["value"] === null ? ", not sent or null" : "";
    return `${error.message.replace(/\.$/, "")} (field ${field}${missing})`;
  }
  return facts === "" ? system_message : `${system_message} (${facts})`;
}

function toText(value: unknown): string {
  return clip(typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing"), 80);
}
