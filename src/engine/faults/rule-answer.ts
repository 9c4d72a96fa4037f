import { CATALOGUE, type DetailSource, type ErrorCode } from "../contract/errors.ts";
import { getValue } from "../contract/invalid-field.ts";
import type { AnyOperation, Principal } from "../contract/operation.ts";
import { findRefusal, type SpendingFigures, toRateDetails, toReachedLimit } from "../contract/refusals.ts";
import { isJsonObject } from "../contract/schema.ts";
import { getJsonLimit, SHARED_UPLOAD_LIMIT_BYTES } from "../contract/settings.ts";
import type { FaultAnswer, FaultFacts, RequestEffect } from "../sandbox/fault-types.ts";
import type { WorldReader } from "../state/transaction.ts";
import type { AnswerPlan, EffectPlan } from "./effects/effect.ts";
import { findCodeForStatus } from "./effects/error.ts";

/**
 * Makes the effect of a plan on this request, with `answer` instead of the plan's own if the rule is a sequence. Waits for
 * the body only if the answer's details need values from it.
 */
export function toEffect(
  plan: EffectPlan,
  facts: FaultFacts,
  { answer = plan.answer, readSpending }: { answer?: AnswerPlan | undefined; readSpending: ReadSpending },
): RequestEffect | undefined | Promise<RequestEffect | undefined> {
  const { wire } = plan;
  const addWire = (answerEffect: FaultAnswer | undefined): RequestEffect | undefined =>
    wire === undefined
      ? answerEffect
      : { kind: "wire", wire: wire.effect, over_ms: wire.over_ms, answer: answerEffect };
  if (answer === undefined) return addWire(undefined);
  const resolvedAnswer = resolveCode(answer, facts);
  if (resolvedAnswer.kind === "code" && needsBody(resolvedAnswer.code, facts.operation) && !facts.hasReadBody)
    return facts.readBody().then(() => addWire(toFaultAnswer(resolvedAnswer, facts, readSpending)));
  return addWire(toFaultAnswer(resolvedAnswer, facts, readSpending));
}

/** A 4xx without a body means the operation's first code with that status. */
function resolveCode(answer: AnswerPlan, { operation }: FaultFacts): AnswerPlan {
  if (answer.kind === "code" || answer.body !== undefined || answer.status < 400 || answer.status >= 500)
    return answer;
  const code = findCodeForStatus(operation, answer.status);
  return code === undefined
    ? answer
    : { kind: "code", code, forced: false, details: {}, headers: answer.headers };
}

function toFaultAnswer(answer: AnswerPlan, facts: FaultFacts, readSpending: ReadSpending): FaultAnswer {
  if (answer.kind === "code") {
    const { code, headers } = answer;
    const { status } = CATALOGUE[code];
    const details = makeDetails(code, facts, { ruleDetails: answer.details, readSpending });
    if (code !== "RATE_LIMIT_EXCEEDED" || hasHeader(headers, "retry-after"))
      return { kind: "error", code, status, details, headers };
    const wait = String(details["retry_after_seconds"]);
    return { kind: "error", code, status, details, headers: { "Retry-After": wait, ...headers } };
  }
  const { status, headers, body } = answer;
  if (body === undefined && status >= 400) return { kind: "error", code: `HTTP_${status}`, status, headers };
  const isText = body === undefined || typeof body === "string";
  const type = isText ? "text/plain" : "application/json; charset=utf-8";
  const content_type = body === undefined || hasHeader(headers, "content-type") ? undefined : type;
  return { kind: "raw", status, headers, body: isText ? body : JSON.stringify(body), content_type };
}

/** @param name in lower case */
function hasHeader(headers: Readonly<Record<string, string>>, name: string): boolean {
  return Object.keys(headers).some((one) => one.toLowerCase() === name);
}

/** Reads the spending of a caller, organization limit first; the composition root provides it. */
export type ReadSpending = (world: WorldReader, principal: Principal) => SpendingFigures[];

type Values = Readonly<Record<string, unknown>>;

interface RefusalContext {
  ruleDetails: Values;
  readSpending: ReadSpending;
}

/**
 * The details that the operation declares for this code, so that a client cannot distinguish a fault from a refusal:
 * ids from the request's path and body, the caller's limits. Details of the rule are merged over them.
 */
function makeDetails(code: ErrorCode, facts: FaultFacts, context: RefusalContext): Record<string, unknown> {
  const details: Record<string, unknown> = describeBodyRefusal(code, facts);
  for (const [name, source] of Object.entries(findRefusal(facts.operation, code).details)) {
    details[name] = isComputed(source)
      ? COMPUTED_DETAILS[source](facts, context)[name]
      : readDetail(name, source, facts);
  }
  return { ...details, ...context.ruleDetails };
}

function needsBody(code: ErrorCode, operation: AnyOperation): boolean {
  if (operation.body?.kind !== "json") return false;
  const pathParameters = getProperties(operation.params);
  const bodyFields = getProperties(operation.body.schema);
  return Object.entries(findRefusal(operation, code).details).some(([name, source]) => {
    if (source === "input" || (typeof source === "object" && "body" in source)) return true;
    return listRequestNames(name, source).some((one) => one in bodyFields && !(one in pathParameters));
  });
}

/** The names under which the request may contain a detail; empty if the detail has another source. */
function listRequestNames(name: string, source: DetailSource): readonly string[] {
  if (source === "organization") return ["organization_id", "org_id"];
  if (source === "sent") return [name];
  return typeof source === "object" && "sent" in source ? source.sent : [];
}

function readDetail(name: string, source: Exclude<DetailSource, ComputedSource>, facts: FaultFacts): unknown {
  if (source === "now") return facts.world.toIso(facts.world.now);
  if (typeof source === "object" && "always" in source) return source.always;
  if (typeof source === "object" && "body" in source) return getValue(facts.body, source.body);
  const values = listRequestNames(name, source).map(
    (one) => facts.params[one] ?? getBodyFields(facts)[one] ?? facts.query.get(one) ?? undefined,
  );
  const organization = source === "organization" ? facts.organization : undefined;
  return [...values, organization].find((value) => value !== undefined) ?? null;
}

function getBodyFields({ body }: FaultFacts): Values {
  return isJsonObject(body) ? body : {};
}

function getProperties(schema: unknown): Values {
  return (schema as { properties?: Values } | undefined)?.properties ?? {};
}

/** The details of a 413 or 415, which follow from the declared body (G09, G13, G26). */
function describeBodyRefusal(
  code: ErrorCode,
  { operation: { body }, settings }: FaultFacts,
): Record<string, unknown> {
  const [file] = Object.entries(body?.kind === "multipart" ? body.files : {});
  if (code === "UNSUPPORTED_MEDIA_TYPE") return file?.[1].types ? { field: file[0], value: null } : {};
  if (code !== "PAYLOAD_TOO_LARGE") return {};
  if (file) return { field: file[0], limit_bytes: file[1].limit(settings) };
  if (body === undefined) return {};
  return "isUpload" in body
    ? { limit_bytes: SHARED_UPLOAD_LIMIT_BYTES, scope: "sandbox_uploads" }
    : { limit_bytes: getJsonLimit(settings) };
}

/** Sources from which a function computes several details at once. */
type ComputedSource = "input" | "digest" | "rate" | "spending";

const COMPUTED_DETAILS: Record<ComputedSource, (facts: FaultFacts, context: RefusalContext) => Values> = {
  input: describeInput,
  digest: describeDigest,
  rate: describeRate,
  spending: describeSpending,
};

function isComputed(source: DetailSource): source is ComputedSource {
  return typeof source === "string" && Object.hasOwn(COMPUTED_DETAILS, source);
}

/** A field that this operation validates, with the sent value (G08). */
function describeInput(facts: FaultFacts): Values {
  const { operation, params, query } = facts;
  const { body } = operation;
  const fields = body?.kind === "json" ? body.schema : body?.kind === "multipart" ? body.fields : undefined;
  const [bodyField] = Object.keys(getProperties(fields));
  if (bodyField !== undefined) return { field: bodyField, value: getBodyFields(facts)[bodyField] ?? null };
  const names = Object.keys(getProperties(operation.query));
  const [firstQueryName] = query.keys();
  const queryField = names.find((name) => query.has(name)) ?? names[0] ?? firstQueryName;
  if (queryField !== undefined) return { field: queryField, value: query.get(queryField) };
  const pathField = Object.keys(params).at(-1);
  return pathField === undefined
    ? { field: "body", value: null }
    : { field: pathField, value: params[pathField] };
}

/** The header with the digest at fault (G43). */
function describeDigest({ headers }: FaultFacts): Values {
  const field = headers["x-goog-hash"] === undefined ? "Content-MD5" : "X-Goog-Hash";
  return { field, value: headers[field.toLowerCase()] ?? null };
}

const DEFAULT_LIMIT = 100;

function describeRate({ rate: window }: FaultFacts): Values {
  return toRateDetails(window?.limit ?? DEFAULT_LIMIT, window?.seconds_left ?? 60);
}

function describeSpending(
  { principal, world }: FaultFacts,
  { ruleDetails: { scope }, readSpending }: RefusalContext,
): Values {
  const figures = principal === undefined ? [] : readSpending(world, principal);
  return { ...toReachedLimit(figures, typeof scope === "string" ? scope : undefined) };
}
