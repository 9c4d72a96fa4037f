import type { JournalEntry, RuleDefinition } from "../../../../types/control-api.ts";
import { formatSeconds, pluralize } from "../../../engine/contract/text.ts";
import {
  type ClientCheck,
  type ClientFinding,
  type ClientRun,
  describeRequest,
  failed,
  findHeader,
  findHit,
  findTarget,
  getArrival,
  hitRequest,
  isEndCausedBy,
  isRead,
  isSameCall,
  isTokenRequest,
  listAfter,
  measurePause,
  notObservable,
  passed,
  type ReadContext,
  type Stage,
  usesToken,
} from "../client-check.ts";

const NO_TARGET = "the client made no successful request that could be made to fail";
/** Clocks and timers differ by some milliseconds. */
const TOLERANCE_MS = 50;
/** The delay of a timer on an idle machine, in milliseconds. */
const TIMER_MS = 10;
const RETRY_AFTER_S = 2;

const findReadOrAny = (run: ClientRun) => findTarget(run, isRead) ?? findTarget(run);

/** A stage that hits the client's first successful GET; if it made none, its first successful request. */
const hitReadOrAny = (rule: Omit<RuleDefinition, "match">): Stage =>
  hitRequest(findReadOrAny, rule, NO_TARGET);

const honoursRetryAfter: ClientCheck = {
  id: "honours-retry-after",
  title: "waits as long as Retry-After says",
  severity: "error",
  advice:
    "After 429 or 503 read Retry-After (seconds or a date), and send nothing to the same endpoint before it has passed.",
  stage: hitReadOrAny({
    times: 1,
    // Equal requests that the client sends together arrive before this answer, so that they are no retries.
    effect: { error: "RATE_LIMIT_EXCEEDED!", headers: { "Retry-After": RETRY_AFTER_S }, delay: 300 },
  }),
  readsTime: true,
  read({ run }) {
    const hits = run.requests.filter((entry) => run.isHit(entry) && readRetryAfter(entry) !== undefined);
    const [first] = hits;
    if (first === undefined) return notObservable("no request got an answer with Retry-After");
    const retries = hits.flatMap((hit) => {
      const next = listAfter(run, hit).find(
        (one) => isSameCall(one, hit) && measurePause(hit, one) > -TOLERANCE_MS,
      );
      return next === undefined
        ? []
        : [{ hit, next, retryAfterMs: readRetryAfter(hit)!, pause: measurePause(hit, next) }];
    });
    const early = retries.find(({ pause, retryAfterMs }) => pause < retryAfterMs - TOLERANCE_MS);
    const example = early ?? retries[0];
    if (example === undefined)
      return notObservable(`${describeRequest(first)} was not retried after ${first.status}`);
    const { hit, next, retryAfterMs, pause } = example;
    const finding = `Retry-After was ${retryAfterMs / 1000} s, and it waited ${formatSeconds(pause)}`;
    return early === undefined ? passed(finding, [hit, next]) : failed(finding, [hit, next]);
  },
};

/** Milliseconds; undefined if the answer does not say, or has neither whole seconds nor a date. */
function readRetryAfter({ response, at }: JournalEntry): number | undefined {
  const value = findHeader(response.headers, "retry-after") ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  return value.endsWith("GMT") ? Date.parse(value) - Date.parse(at) : undefined;
}

const OUTAGE = hitReadOrAny({ effect: { status: 503 } });

const MAX_ATTEMPTS = 10;

const boundedRetries: ClientCheck = {
  id: "bounded-retries",
  title: "stops retrying when the service stays down",
  severity: "error",
  advice:
    "Limit retries by number and by time, such as five within a minute; then report the failure to the user.",
  stage: OUTAGE,
  countsRepetitions: true,
  read(context) {
    const { run, baseline } = context;
    const attempts = listAttempts(run, isRetryable);
    const [first] = attempts;
    if (first === undefined) return notObservable("the client did not call the endpoint that was down");
    if (attempts.length === 1) return passed("it does not retry a 503", attempts);
    const span = getArrival(attempts.at(-1)!) - getArrival(first);
    const finding = `it sent ${describeRequest(first)} ${attempts.length} times in ${formatSeconds(span)}`;
    if (attempts.length > MAX_ATTEMPTS) return failed(finding, attempts);
    const isHanging = run.end.how === "timed out" && baseline.end.how !== "timed out";
    return isHanging && isEndCausedBy(context, first, isRetryable)
      ? failed(`${finding}, and was still trying when the time ran out`, attempts)
      : passed(finding, attempts);
  },
};

const growingPauses: ClientCheck = {
  id: "growing-pauses",
  title: "waits longer before each further retry",
  severity: "error",
  advice: "Double the pause before each retry, so that a service that comes back is not overrun.",
  readsTime: true,
  stage: OUTAGE,
  // Pauses that are drawn at random may also shrink.
  read: ({ run }) =>
    readPauses(run, (pauses) => Math.max(...pauses) < 1.3 * Math.min(...pauses) + TOLERANCE_MS),
};

const jitteredPauses: ClientCheck = {
  id: "jittered-pauses",
  title: "varies its pauses at random",
  severity: "warning",
  advice:
    "Draw each pause at random below its limit, so that many clients do not come back at the same moment.",
  readsTime: true,
  stage: OUTAGE,
  read: ({ run }) => readPauses(run, isRegular),
};

function isRegular(pauses: readonly number[]): boolean {
  if (Math.max(...pauses) < TIMER_MS) return true;
  const ratio = pauses.at(-1)! / pauses.at(-2)!;
  // Random pauses may be regular by chance, but rarely by one of these factors.
  const isUsual = [1, 1.5, 2, 3, 4].some((usual) => Math.abs(ratio - usual) < 0.05 * usual);
  return (
    isUsual &&
    pauses.slice(1).every((pause, at) => {
      const expected = pauses[at]! * ratio;
      return Math.abs(pause - expected) < 0.04 * expected + TIMER_MS;
    })
  );
}

/** A pattern needs at least three pauses. */
const MIN_PAUSES = 3;

function readPauses(run: ClientRun, isFlawed: (pauses: readonly number[]) => boolean): ClientFinding {
  // Retry-After says how long to wait, so the client has no choice.
  const attempts = listAttempts(run, (entry) => isRetryable(entry) && readRetryAfter(entry) === undefined);
  const pauses = attempts.slice(1).map((attempt, at) => measurePause(attempts[at]!, attempt));
  if (pauses.length < MIN_PAUSES)
    return notObservable(`it retried ${pluralize(pauses.length, "time")}; ${MIN_PAUSES} retries are needed`);
  const finding = `its pauses were ${formatPauses(pauses)}`;
  return isFlawed(pauses) ? failed(finding, attempts) : passed(finding, attempts);
}

function formatPauses(pauses: readonly number[]): string {
  const firstPauses = pauses.slice(0, 8).map(formatSeconds).join(", ");
  return pauses.length > 8 ? `${firstPauses} …` : firstPauses;
}

/** The attempts at the first request that failed in this way, up to the one that did not. */
function listAttempts(run: ClientRun, hasFailed: (entry: JournalEntry) => boolean): JournalEntry[] {
  const hit = findHit(run, hasFailed);
  if (hit === undefined) return [];
  const later = listAfter(run, hit).filter((one) => isSameCall(one, hit));
  const success = later.findIndex((one) => !(run.isHit(one) && hasFailed(one)));
  return [hit, ...(success < 0 ? later : later.slice(0, success + 1))];
}

/** Whether a retry makes sense; without an answer the status is 0. */
const isRetryable = ({ status }: JournalEntry) => status === 0 || status === 429 || status >= 500;

/** Refusals that the same request gets again and again. */
const PERMANENT_REFUSALS: readonly (readonly [status: number, Stage])[] = [
  [
    400,
    hitRequest(
      (baseline) => findTarget(baseline, (entry) => !isRead(entry)),
      { effect: { error: "INVALID_JSON!" } },
      "the client made no successful request other than GET",
    ),
  ],
  [403, hitReadOrAny({ effect: { error: "INSUFFICIENT_PERMISSIONS!" } })],
  [404, hitReadOrAny({ effect: { error: "RESOURCE_NOT_FOUND!" } })],
  [422, hitReadOrAny({ effect: { error: "INVALID_INPUT!" } })],
];

const permanentRefusals = PERMANENT_REFUSALS.map(
  ([status, stage]): ClientCheck => ({
    id: `no-retry-of-${status}`,
    title: `does not send a request again that got ${status}`,
    severity: "error",
    advice: `A ${status} stays a ${status}: show the error, and send the request again only once it was changed.`,
    stage,
    countsRepetitions: true,
    read: (context) => readRefusals(context, status),
  }),
);

const noRetryOf401: ClientCheck = {
  id: "no-retry-of-401",
  title: "does not send a request again that gets 401 with fresh credentials too",
  severity: "error",
  advice:
    "After a 401 get new credentials once, and send the request again once. If that gets 401 too, show the error: more tokens will not help.",
  stage: hitRequest(
    (baseline) => findTarget(baseline, usesToken) ?? findReadOrAny(baseline),
    { effect: { error: "AUTHENTICATION_REQUIRED!" } },
    NO_TARGET,
  ),
  countsRepetitions: true,
  read(context) {
    const hit = findHit(context.run, ({ status }) => status === 401);
    const tokenRequests = hit === undefined ? [] : listAfter(context.run, hit).filter(isTokenRequest);
    // A token can be refreshed, and if that does not help exchanged; a key may be read again from where it is stored.
    const ways = new Set(tokenRequests.map(({ operation }) => operation));
    return readRefusals(context, 401, Math.max(1, ways.size));
  },
};

/** @param allowedRetries how often a sound client may send a refused request again */
function readRefusals({ run, baseline }: ReadContext, status: number, allowedRetries = 0): ClientFinding {
  const attempts = listAttempts(run, (entry) => entry.status === status);
  const [first] = attempts;
  if (first === undefined) return notObservable("the client did not send the request in this run");
  const usual = baseline.requests.filter((one) => isSameCall(one, first)).length;
  const baselineNote = usual === 0 ? "" : `, ${usual} without the refusal`;
  const finding = `it sent ${describeRequest(first)} ${pluralize(attempts.length, "time")}${baselineNote}`;
  return attempts.length > Math.max(1, usual) * (1 + allowedRetries)
    ? failed(finding, attempts)
    : passed(finding, attempts);
}

export const RETRY_CHECKS: readonly ClientCheck[] = [
  honoursRetryAfter,
  boundedRetries,
  growingPauses,
  jitteredPauses,
  ...permanentRefusals,
  noRetryOf401,
];
