import { ApiError, invalidInput } from "../contract/errors.ts";
import type { AnyOperation, Identity } from "../contract/operation.ts";
import { TokenReply } from "../contract/reply.ts";
import type { RateState } from "../sandbox/rate-windows.ts";
import type { Transaction } from "../state/transaction.ts";
import { checkResponse, toAnswer } from "./answer.ts";
import { BodyCapture } from "./body-capture.ts";
import { countAgainstRate } from "./count-against-rate.ts";
import { type Exchange, findOrganizationInPath, ORGANIZATION_ID, toCall, Undecidable } from "./exchange.ts";
import { canForward, forwardToUpstream } from "./forward-to-upstream.ts";
import { EarlyResponse, hasOverride, injectFault, toUnavailableAnswer } from "./inject-fault.ts";
import { hasType, parseJson, parseText, readMediaType, requireForm } from "./read-body.ts";
import { runStepsNow, type Step } from "./run-steps.ts";
import {
  checkSurplusBody,
  checkUnknownParameters,
  validateForm,
  validateJson,
  validateParams,
  validateQuery,
} from "./validate.ts";

/*
 * The steps of a request, in the order in which they run (REQUEST_STEPS, at the end). Each completes the exchange, or
 * throws an ApiError (the decision is then the step's name) or an EarlyResponse.
 */

/** A path of no operation is refused after the faults if a rule or the upstream may answer it, else now (interfaces.md 11). */
function route(exchange: Exchange): void {
  const { router } = exchange.api;
  const match = router.find(exchange.method, exchange.path);
  if (match !== undefined) {
    exchange.operation = match.operation;
    exchange.params = match.params;
    return;
  }
  exchange.routeError = createNotFoundError(exchange, router.listMethods(exchange.path));
  if (!exchange.sandbox.faults.matchesUndeclaredPaths && !canForward(exchange)) throw exchange.routeError;
}

/** The error for an unknown path or method (G04). */
function createNotFoundError({ method, path }: Exchange, allowed: readonly string[]): ApiError {
  if (allowed.length > 0)
    return new ApiError("METHOD_NOT_ALLOWED", { headers: { Allow: allowed.join(", ") } });
  return new ApiError("RESOURCE_NOT_FOUND", {
    message: "There is no such endpoint.",
    system_message: `No operation answers ${method} ${path}; \`understudy openapi\` lists those that do.`,
    details: { path },
  });
}

/** Identifies the caller. `authenticate` refuses later, so that fault rules can match on the caller first. */
function identify(exchange: Exchange): void | Promise<void> {
  const { engine, sandbox } = exchange;
  const identified = engine.identify(sandbox.world.read(), exchange.credentialHeaders);
  if (identified instanceof Promise) return identified.then((identity) => setIdentity(exchange, identity));
  setIdentity(exchange, identified);
}

/** Sets the caller and the organization: that of the path, else the key's current one (G32). Invalid ids are ignored. */
function setIdentity(exchange: Exchange, identity: Identity | undefined): void {
  const { operation, params, path } = exchange;
  const requested = operation
    ? (params["organization_id"] ?? params["org_id"])
    : findOrganizationInPath(path);
  const isNamed = requested !== undefined && ORGANIZATION_ID.test(requested);
  exchange.identity = identity;
  exchange.organization = isNamed ? requested : identity?.principal.organization_id;
}

function hasFaults({ sandbox, request, stagedRequest }: Exchange): boolean {
  return stagedRequest !== undefined || sandbox.faults.mayAffectRequests || hasOverride(request.headers);
}

function injectFaultsBefore(exchange: Exchange): void | Promise<void> {
  const { routeError, sandbox, request } = exchange;
  const mayHaveFault =
    routeError === undefined
      ? hasFaults(exchange)
      : sandbox.faults.matchesUndeclaredPaths || (canForward(exchange) && hasOverride(request.headers));
  if (!mayHaveFault) return;
  if (exchange.dryRun === undefined) exchange.stagedRequest = sandbox.faults.enterStages();
  return injectFault(exchange, "before");
}

/** @throws ApiError of `route`; for a path that a rule answers for other callers, the refusal of this caller */
function requireOperation(exchange: Exchange): void {
  const { routeError, verdict, identity } = exchange;
  if (routeError === undefined) return;
  const refusal = verdict?.refusesCaller ? exchange.callerRefusal : undefined;
  if (refusal === undefined) throw routeError;
  exchange.step = "auth";
  if (refusal.code !== "AUTHENTICATION_REQUIRED") {
    exchange.step = "rate-limit";
    countAgainstRate(exchange, identity!);
    exchange.step = "access";
  }
  throw refusal;
}

/** @throws ApiError AUTHENTICATION_REQUIRED (section 5) */
function authenticate(exchange: Exchange): void {
  // A refused caller is neither in the journal nor in a header.
  if (exchange.identity?.refused) setIdentity(exchange, undefined);
  if (exchange.identity === undefined && exchange.operation!.credentials !== false)
    throw new ApiError("AUTHENTICATION_REQUIRED");
}

/** @throws ApiError RATE_LIMIT_EXCEEDED */
function countRequest(exchange: Exchange): void {
  const { operation, identity } = exchange;
  if (identity !== undefined && operation!.credentials !== false) countAgainstRate(exchange, identity);
}

/** The rate state of a RATE_LIMIT_EXCEEDED answer: a used-up window, also if a reply rule caused the refusal (G05). */
export function toRefusalRate({ sandbox, identity, rate, at }: Exchange): RateState | undefined {
  if (identity === undefined || rate === undefined || rate.exceeded) return rate;
  return sandbox.windows.getExhaustedState(identity.principal.key_id, rate.limit, at);
}

/**
 * Receives a JSON body or a form; `prepare` reads any other body itself.
 * @throws ApiError INVALID_JSON, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT
 */
function readBody(exchange: Exchange): undefined | Promise<void> {
  const { dryRun, bodySpec: body } = exchange;
  const { prepare } = exchange.operation!;
  if (dryRun?.incompleteReason !== undefined) throw new Undecidable(dryRun.incompleteReason);
  if (body?.kind === "json") return readJson(exchange, body);
  if (body === undefined && prepare === undefined) return undefined;
  if (dryRun !== undefined && body?.kind === "multipart")
    throw new Undecidable("the operation takes a form, and the next steps depend on its files");
  exchange.bodyCapture = new BodyCapture({ withDigest: false });
  return body?.kind === "multipart" ? readForm(exchange, body) : undefined;
}

type Body<Kind> = Extract<AnyOperation["body"], { kind: Kind }>;

async function readJson(exchange: Exchange, spec: Body<"json">): Promise<void> {
  const { request } = exchange;
  const body = await exchange.readBody();
  exchange.body = body;
  if (spec.optional && body.length === 0)
    exchange.json = spec.default && { value: spec.default, text: JSON.stringify(spec.default) };
  else {
    const { text, json_types: types = [] } = spec;
    const isText = text !== undefined && (text.isBesideJson !== true || hasType(request, text.types));
    exchange.json = isText ? parseText(request, body, text) : parseJson(request, body, { types });
  }
}

async function readForm(exchange: Exchange, spec: Body<"multipart">): Promise<void> {
  const { engine, request, sandbox, bodyCapture } = exchange;
  if (spec.optional && lacksBody(request)) {
    exchange.form = spec.default && { fields: spec.default, sentTexts: {}, files: {}, cleanUp: () => {} };
    return;
  }
  const capturedRequest = { headers: request.headers, body: bodyCapture!.capture(request.body) };
  requireForm(request);
  const storage = { space: engine.getFormSpace(sandbox), settings: sandbox.settings };
  exchange.form = await engine.readForm(capturedRequest, spec, storage);
}

function lacksBody({ headers }: Exchange["request"]): boolean {
  const { "content-type": type, "content-length": length = 0, "transfer-encoding": encoding } = headers;
  return type === undefined && Number(length) === 0 && encoding === undefined;
}

/** Path before query before body (G04). @throws ApiError INVALID_INPUT */
function validate(exchange: Exchange): void {
  const operation = exchange.operation!;
  const { params, request, query: search } = exchange;
  const input = operation.readInput?.({ params, search, headers: request.headers });
  if (input !== undefined) checkUnknownParameters(input.unknown, search, exchange);
  exchange.call = toCall(exchange, {
    params: input === undefined ? validateParams(operation, params) : input.params,
    query: input === undefined ? validateQuery(operation, search, exchange) : input.query,
    body: validateBody(exchange),
  });
  operation.validate?.(exchange.call);
}

function validateBody(exchange: Exchange): unknown {
  const { bodySpec: spec, json, form, request } = exchange;
  if (spec === undefined) checkSurplusBody(request.headers, exchange);
  if (spec?.kind === "json") {
    return (
      json && validateJson(spec.schemas_by_type?.[readMediaType(request)] ?? spec.schema, json, exchange)
    );
  }
  if (spec?.kind === "stream" && !spec.optional && lacksBody(request))
    throw invalidInput("body", null, "body is required");
  if (spec?.kind !== "multipart" || form === undefined) return undefined;
  const fields = validateForm(spec.fields, form, exchange);
  for (const [name, file] of Object.entries(spec.files))
    if (file.required && form.files[name] === undefined)
      throw invalidInput(name, null, `${name} is required`);
  return fields;
}

/** Identifies a caller whose credential is in the body (G01). @throws ApiError */
function identifyFromBody(exchange: Exchange): void {
  const { operation, sandbox, call } = exchange;
  if (operation!.identify === undefined) return;
  call!.world = sandbox.world.read();
  setIdentity(exchange, operation!.identify(call!));
  call!.principal = exchange.identity!.principal;
}

function countRequestIdentifiedFromBody(exchange: Exchange): void {
  if (exchange.operation!.identify !== undefined) countAgainstRate(exchange, exchange.identity!);
}

/** Existence and access, in the order of G03. @throws ApiError */
function authorize(exchange: Exchange): void {
  exchange.accessResult = exchange.operation!.access?.(exchange.call!);
}

/** @throws ApiError SPENDING_LIMIT_EXCEEDED */
function checkBudget({ engine, operation, call }: Exchange): void {
  if (operation!.billable) engine.requireBudget(call!.world, call!.principal);
}

/**
 * A user's operation may be removed or replaced while its request is held, delayed or sent slowly; it would read
 * collections that are gone.
 * @throws EarlyResponse 503, as after a reset
 */
function requirePresentOperation(exchange: Exchange): void {
  const { api, sandbox, operation } = exchange;
  if (api === sandbox.api || sandbox.api.operations.some(({ handle }) => handle === operation!.handle))
    return;
  exchange.reasons = [...exchange.reasons, "the operation was removed or replaced while the request waited"];
  throw new EarlyResponse("route", toUnavailableAnswer(exchange));
}

/** Runs asynchronous work before the transaction. Access is checked before it, and again within the transaction. */
function prepare(exchange: Exchange): undefined | Promise<void> {
  const { operation, sandbox, call, dryRun, step } = exchange;
  if (operation!.prepare === undefined) return undefined;
  call!.world = sandbox.world.read();
  runStepsNow([AUTHORIZE, CHECK_BUDGET], exchange);
  exchange.step = step;
  if (dryRun === undefined) return runPrepare(exchange);
  throw new Undecidable("the operation processes its input before it answers, which a dry run does not do");
}

async function runPrepare(exchange: Exchange): Promise<void> {
  const { engine, operation, sandbox, call, accessResult, request, bodyCapture } = exchange;
  const { body } = operation!;
  if (body?.kind === "stream" && body.isUpload) {
    const { id } = accessResult as { id: string };
    exchange.upload = { id, before: sandbox.peekUploads()?.get(id) };
  }
  const io = {
    services: engine.getServices(sandbox, exchange),
    stream: bodyCapture?.capture(request.body) ?? request.body,
    signal: request.signal,
  };
  try {
    exchange.prepared = await operation!.prepare!(call!, accessResult, io);
  } catch (error) {
    // The bytes that arrived before are stored.
    recordUpload(exchange);
    throw error;
  }
}

/** Records a request that has changed only the bytes of its upload. */
function recordUpload(exchange: Exchange): void {
  const { sandbox, upload } = exchange;
  if (upload !== undefined && upload.before !== sandbox.peekUploads()?.get(upload.id))
    sandbox.recorder.recordBytes(exchange);
}

/** The operation itself, in a transaction that a refusal undoes. A dry run discards the changes. */
function commit(exchange: Exchange): void {
  const { sandbox, call, dryRun } = exchange;
  const change = (tx: Transaction) => {
    exchange.committed_at = tx.toEpoch(tx.now);
    call!.world = tx;
    runStepsNow([AUTHORIZE, CHECK_BUDGET, HANDLE], exchange);
  };
  if (dryRun !== undefined) {
    change(sandbox.world.read());
    return;
  }
  sandbox.world.transact(change, exchange);
  recordUpload(exchange);
  spendTokens(exchange);
}

/** @throws ApiError of the operation's own; EarlyResponse if the sandbox would grow too large */
function handle(exchange: Exchange): void {
  const { engine, operation, sandbox, call, accessResult, prepared } = exchange;
  exchange.value = operation!.handle(call!, accessResult, prepared);
  checkValue(exchange);
  const growthRefusal = engine.refuseGrowth?.(sandbox.world, call!.world);
  if (growthRefusal !== undefined) throw new EarlyResponse("limit", growthRefusal);
}

function checkValue({ sandbox, operation, value }: Exchange): void {
  if (sandbox.settings.check_answers === "on") checkResponse(operation!, value);
}

/** Spends the tokens of this answer, so that the budget in its headers excludes them (G07). */
function spendTokens(exchange: Exchange): void {
  const { sandbox, identity, rate, at, value } = exchange;
  if (!(value instanceof TokenReply) || identity === undefined || rate === undefined) return;
  const spending = { now: at, token_limit: rate.token_limit };
  const token_remaining = sandbox.windows.spend(identity.principal.key_id, value.tokens, spending);
  exchange.rate = { ...rate, token_remaining };
}

/** Makes the answer once the change is committed, since it may report effects of the commit. */
function finish(exchange: Exchange): undefined | Promise<void> {
  const { operation, dryRun } = exchange;
  if (operation!.finish !== undefined && dryRun === undefined) return runFinish(exchange);
  exchange.answer = toAnswer(operation!, exchange.value);
  return undefined;
}

async function runFinish(exchange: Exchange): Promise<void> {
  const { engine, operation, sandbox, call } = exchange;
  exchange.value = await operation!.finish!(call!, exchange.value, engine.getServices(sandbox, exchange));
  checkValue(exchange);
  exchange.answer = toAnswer(operation!, exchange.value);
}

const injectFaultsAfter = (exchange: Exchange) =>
  hasFaults(exchange) ? injectFault(exchange, "after") : undefined;

const AUTHORIZE: Step<Exchange> = { name: "access", run: authorize };
const CHECK_BUDGET: Step<Exchange> = { name: "spending", run: checkBudget };
const HANDLE: Step<Exchange> = { name: "rule", run: handle };

export const REQUEST_STEPS: readonly Step<Exchange>[] = [
  { name: "route", run: route },
  { name: "route", run: identify },
  { name: "fault", run: injectFaultsBefore },
  { name: "route", run: forwardToUpstream },
  { name: "route", run: requireOperation },
  { name: "auth", run: authenticate },
  { name: "rate-limit", run: countRequest },
  { name: "validation", run: readBody },
  { name: "validation", run: validate },
  { name: "auth", run: identifyFromBody },
  { name: "rate-limit", run: countRequestIdentifiedFromBody },
  { name: "route", run: requirePresentOperation },
  // Only operations that receive bytes, call other servers or take long have `prepare`; they are authorized before it.
  { name: "rule", run: prepare },
  { name: "route", run: requirePresentOperation },
  // `authorize`, `checkBudget` and `handle` run in one transaction.
  { name: "rule", run: commit },
  { name: "rule", run: finish },
  { name: "fault-after", run: injectFaultsAfter },
];
