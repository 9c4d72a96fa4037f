import { setMaxListeners } from "node:events";
import type { CheckReport, ReceiverReport } from "../../../types/control-api.ts";
import { findNearest } from "../../engine/contract/text.ts";
import { countOutcomes, runChecks } from "../checks/run-checks.ts";
import { createSecretRedactor } from "../redact.ts";
import { type Check, type CheckDescription, staysOverloaded } from "./check.ts";
import { CHECKS, FIRST_CHECK } from "./checks/index.ts";
import { toCurlCommand } from "./curl.ts";
import { createId, DATA_FIELDS, SENT_EVENTS } from "./delivery.ts";
import { adviseOnCheck } from "./failure-kind.ts";
import { broken, type Finding, failed, isAccepted, isDisabledBy410, notObservable } from "./finding.ts";
import { type GraderNetwork, openNetwork } from "./network.ts";
import { Probe, ProbeError } from "./probe.ts";
import {
  failsReceiver,
  type GradeReceiverOptions,
  listManualChecks,
  NOT_RUN,
  OPTION_NAMES,
  type OptionNames,
  ReceiverTestUsageError,
  type ReportedRequest,
  SEVERITIES,
} from "./report.ts";
import { type Attempt, hasNoAnswer, Session, WebhookGone } from "./session.ts";

const REACHABLE: CheckDescription = {
  id: "reachable",
  title: "Accepts connections",
  severity: "critical",
  why: "Nothing can be delivered, or graded, when nothing listens.",
  advice: "Start the receiver, and check host, port and scheme of the URL.",
};

const PROBE: CheckDescription = {
  id: "probe",
  title: "The probe can be read",
  severity: "critical",
  why: "Only side effects show whether a delivery was processed once, and only the probe shows side effects.",
  advice:
    "Let the probe answer GET with 200 and JSON: how many deliveries were processed, or the list of their ids, one entry per side effect.",
};

const NOT_ACCEPTED =
  "The receiver doesn't accept a valid delivery, so its other answers would prove nothing: a refusal could have any reason.";

/** The interface through which the grader is called: its names of options, and its network. */
interface Caller {
  names: OptionNames;
  /** Closed at the end; by default one that may call any address. */
  network?: GraderNetwork;
}

/** Grades a receiver for any caller, as `gradeReceiver` does for users of the library. */
export async function gradeFor(
  caller: Caller,
  url: string,
  options: GradeReceiverOptions,
): Promise<ReceiverReport> {
  const selectedChecks = chooseChecks(options);
  const session = openSession(url, options, caller);
  const toCheckReport = createReporter(options, caller.names);
  const startedAt = new Date();
  const checks: CheckReport[] = [];
  const reportProblem = (check: CheckDescription, detail: string) => {
    checks.push(toCheckReport(check, broken(detail), 0));
  };
  let stopped: string | null;
  try {
    const problem = await session.findConnectionProblem();
    stopped = problem === null ? null : `The receiver can't be reached: ${problem}`;
    if (problem !== null)
      reportProblem(REACHABLE, `nothing answers at ${session.options.url.host}: ${problem}`);
    else {
      const probeError = await session.dropUnreadableProbe();
      if (probeError !== null) reportProblem(PROBE, probeError.message);
      const run = await runAll(session, selectedChecks, { toCheckReport, onProgress: options.onProgress });
      checks.push(...run.reports);
      stopped = run.stopped;
    }
  } finally {
    session.options.outbound.close();
  }
  const { failOn = "minor", probe = null } = options;
  const fails = ({ outcome, severity }: CheckReport) =>
    outcome === "error" || (outcome === "failed" && failsReceiver({ severity }, failOn));
  const { differs: _, ...summary } = countOutcomes(checks);
  return {
    url,
    probe,
    started_at: startedAt.toISOString(),
    duration_ms: Date.now() - startedAt.getTime(),
    verdict: stopped === null && !checks.some(fails) ? "pass" : "fail",
    fail_on: failOn,
    stopped,
    summary,
    checks,
    manual_checks: listManualChecks(caller.names),
  };
}

function runAll(
  session: Session,
  checks: readonly Check[],
  { toCheckReport, onProgress }: { toCheckReport: Reporter; onProgress: GradeReceiverOptions["onProgress"] },
) {
  let attemptsBefore = 0;
  return runChecks<Check, Finding, CheckReport>(checks, {
    onStart(check, { index, total }) {
      onProgress?.({ index: index + 1, total, title: check.title });
      attemptsBefore = session.attempts.length;
    },
    run: (check) => runCheck(session, check),
    skip: (_check, reason) => notObservable(`${NOT_RUN}${reason}`),
    report: toCheckReport,
    findReasonToStop: (check) => findReasonToStop(session, { check, attemptsBefore }),
  });
}

async function runCheck(session: Session, check: Check): Promise<Finding> {
  try {
    return await check.run(session);
  } catch (error) {
    session.options.signal?.throwIfAborted();
    if (error instanceof WebhookGone) return failed(error.message, error.attempt);
    if (error instanceof ProbeError) return { ...broken(error.message), advice: PROBE.advice };
    return broken(`the check itself failed: ${(error as Error).message}`);
  }
}

/** Reads the attempts of a check: the webhook was disabled by 410, never accepted, or the receiver is down. */
async function findReasonToStop(
  session: Session,
  { check, attemptsBefore }: { check: Check; attemptsBefore: number },
): Promise<string | null> {
  const isFirst = check === FIRST_CHECK;
  const listAttempts = () => session.attempts.slice(attemptsBefore);
  const isDown = !isFirst && (await staysOverloaded(session, listAttempts()));
  // Includes the attempts of `staysOverloaded`.
  const attempts = listAttempts();
  if (attempts.some((attempt) => attempt.genuine && isDisabledBy410(attempt)))
    return "The receiver answered 410 to a genuine delivery: the service would have disabled the webhook and sent nothing more.";
  if (isFirst && !attempts.some((attempt) => attempt.genuine && isAccepted(attempt))) return NOT_ACCEPTED;
  if (isDown)
    return `The receiver answers 503 to every delivery since “${check.id}”, for longer than ${session.options.patienceMs / 1000} s (${session.options.names.patience}).`;
  if (!attempts.some(({ result }) => hasNoAnswer(result))) return null;
  const problem = await session.findConnectionProblem();
  return problem === null
    ? null
    : `The receiver has stopped accepting connections during “${check.id}”: ${problem}.`;
}

type Reporter = (check: CheckDescription, finding: Finding, durationMs: number) => CheckReport;

/** Turns findings into entries of the report, and redacts the secret in the receiver's texts. */
function createReporter({ secret, caFile }: GradeReceiverOptions, names: OptionNames): Reporter {
  const redact = createSecretRedactor(secret);
  return (check, finding, durationMs) => {
    const { id, title, severity, why } = check;
    const { outcome, detail, attempt, note } = finding;
    const hasFailed = outcome === "failed" || outcome === "error";
    return {
      id,
      title,
      severity,
      why,
      outcome,
      detail: redact(detail),
      advice: finding.advice ?? (hasFailed ? adviseOnCheck(check, { attempt, names }) : check.advice),
      note: note ?? null,
      duration_ms: Math.round(durationMs),
      request: attempt && toReportedRequest(attempt),
      curl: attempt && toCurlCommand(attempt.request, caFile),
    };
  };
}

const MAX_SHOWN_CHARACTERS = 2000;

function toReportedRequest({ request }: Attempt): ReportedRequest {
  const text = request.body.toString("utf8");
  return {
    method: request.method,
    url: request.url.href,
    headers: request.headers,
    body: text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, 400)} … ${text.slice(-200)}` : text,
    body_bytes: request.body.length,
  };
}

/** A day, long before timers overflow. */
const MAX_DURATION_MS = 86_400_000;
const MAX_MEMORY_DELIVERIES = 100_000;

/** @throws ReceiverTestUsageError */
function openSession(
  receiverUrl: string,
  options: GradeReceiverOptions,
  { names, network }: Caller,
): Session {
  const { secret, signal, data = {}, event = "user.created", memoryDeliveries = 250 } = options;
  if (secret === "") throw new ReceiverTestUsageError("the signing secret is empty");
  if (typeof secret !== "string")
    throw new ReceiverTestUsageError("the option secret must be a text, the webhook's signing secret");
  if (options.requireProbe && options.probe === undefined)
    throw new ReceiverTestUsageError("a probe is required, and none is given");
  const timeoutMs = requireDuration("timeout", options.timeoutMs ?? 30_000);
  if (timeoutMs === 0) throw new ReceiverTestUsageError("the timeout must be more than 0 seconds");
  const patienceMs = requireDuration("patience", options.patienceMs ?? 3000);
  const memoryMs = requireDuration("memory", options.memoryMs ?? 12_000);
  const isCount = Number.isInteger(memoryDeliveries) && memoryDeliveries >= 0;
  if (!isCount || memoryDeliveries > MAX_MEMORY_DELIVERIES)
    throw new ReceiverTestUsageError(
      `the number of deliveries in between must be a whole number up to ${MAX_MEMORY_DELIVERIES}`,
    );
  requireKnown("field of an event's data", Object.keys(data), { all: [...DATA_FIELDS], option: "data" });
  requireKnown("event", [event], { all: SENT_EVENTS, option: "event" });
  const url = readUrl("receiver", receiverUrl);
  const probe = options.probe === undefined ? null : readUrl("probe", options.probe);
  const settleMs = options.settleMs ?? 150;
  const { outbound, resolveUrl } = network ?? openNetwork(options.caFile);
  // Each delivery adds a listener to the signal, and many run at once.
  if (signal !== undefined) setMaxListeners(0, signal);
  return new Session({
    url,
    outbound,
    resolveUrl,
    timeoutMs,
    patienceMs,
    memoryMs,
    memoryDeliveries,
    secret,
    event,
    data,
    signal,
    onNotice: options.onNotice,
    names,
    webhookId: createId("wh"),
    organizationId: createId("org"),
    serviceName: options.serviceName ?? "Service",
    probe: probe && new Probe({ url: probe, outbound, timeoutMs, patienceMs, settleMs, signal }),
  });
}

/** Checks URL and options without sending anything. @throws ReceiverTestUsageError as `gradeReceiver` does */
export function requireGradable(url: string, options: GradeReceiverOptions): void {
  chooseChecks(options);
  openSession(url, options, { names: OPTION_NAMES.library }).options.outbound.close();
}

/** The checks to run, in their order. @throws ReceiverTestUsageError */
function chooseChecks({ only, skip = [], failOn = "minor" }: GradeReceiverOptions): readonly Check[] {
  requireKnown("severity", [failOn], { all: SEVERITIES });
  const ids = CHECKS.map(({ id }) => id);
  requireKnown("check", only ?? [], { all: ids, option: "only" });
  requireKnown("check", skip, { all: ids, option: "skip" });
  if (skip.includes(FIRST_CHECK.id))
    throw new ReceiverTestUsageError(
      `${FIRST_CHECK.id} can't be left out: without it no refusal proves anything`,
      "skip",
    );
  if (only?.length && only.every((id) => skip.includes(id)))
    throw new ReceiverTestUsageError("no check is left to run", "skip");
  return CHECKS.filter(
    (check) => check === FIRST_CHECK || ((only?.includes(check.id) ?? true) && !skip.includes(check.id)),
  );
}

function requireKnown(
  kind: string,
  words: readonly string[],
  { all, option }: { all: readonly string[]; option?: ReceiverTestUsageError["option"] },
): void {
  if (!Array.isArray(words))
    throw new ReceiverTestUsageError(`${option} is a list, not ${JSON.stringify(words)}`, option);
  const unknown = words.map(String).find((one) => !all.includes(one));
  if (unknown === undefined) return;
  const nearest = findNearest(unknown, all);
  // Lists all valid names if none is similar.
  const hint = nearest === undefined ? `take one of ${all.join(", ")}` : `did you mean "${nearest}"?`;
  throw new ReceiverTestUsageError(`there is no ${kind} "${unknown.slice(0, 80)}"; ${hint}`, option);
}

function requireDuration(what: string, ms: number): number {
  if (ms >= 0 && ms <= MAX_DURATION_MS) return ms;
  throw new ReceiverTestUsageError(`the ${what} must be from 0 to ${MAX_DURATION_MS / 1000} seconds`);
}

/** Requires an absolute URL of http or https without credentials (G23). @throws ReceiverTestUsageError */
function readUrl(what: "receiver" | "probe", text: string): URL {
  const option = what === "probe" ? "probe" : "url";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new ReceiverTestUsageError(
      `the ${what} URL must be an absolute http or https URL, not "${text}"`,
      option,
    );
  if (url.username !== "" || url.password !== "")
    throw new ReceiverTestUsageError(`the ${what} URL must not contain credentials`, option);
  url.hash = "";
  return url;
}
