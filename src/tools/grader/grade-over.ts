import { type Check, type Finding, isAccepted, statusOf } from "./check.ts";
import { type CheckDescription, createReporter, type Reporter } from "./check-report.ts";
import { FIRST_CHECK } from "./checks/index.ts";
import type { GradeReceiverOptions } from "./grading-options.ts";
import { chosenChecks, openSession } from "./open-session.ts";
import { ProbeError } from "./probe.ts";
import { staysOverloaded } from "./put-off.ts";
import { type CheckReport, isGrave, NOT_RUN, type ReceiverReport } from "./report.ts";
import type { GraderNetwork } from "./send-raw.ts";
import { type Session, WebhookGone } from "./session.ts";
import { UNSEEN } from "./unseen.ts";

const REACHABLE: CheckDescription = {
  id: "reachable",
  title: "Accepts connections",
  severity: "critical",
  why: "Nothing can be delivered, or graded, while nobody listens.",
  advice: "Start the receiver, and check host, port and scheme of the URL.",
};

const PROBE: CheckDescription = {
  id: "probe",
  title: "The probe can be read",
  severity: "critical",
  why: "Whether a delivery was processed once shows in side effects, not in answers; nothing can be said of them without the probe.",
  advice:
    "Let the probe answer GET with 200 and JSON: how many deliveries were processed, or the list of their ids, one entry per side effect.",
};

const NOT_ACCEPTED =
  "The receiver doesn't accept a valid delivery, so its other answers would prove nothing: a refusal could have any reason.";

/** `gradeReceiver` over a network of the caller's; it is closed in the end. By default one that may call every address. */
export async function gradeOver(
  url: string,
  options: GradeReceiverOptions,
  network?: GraderNetwork,
): Promise<ReceiverReport> {
  const chosen = chosenChecks(options);
  const session = openSession(url, options, network);
  const report = createReporter(options.secret, options.caFile);
  const startedAt = new Date();
  const checks: CheckReport[] = [];
  const blocked = (check: CheckDescription, detail: string) => {
    checks.push(report(check, { outcome: "error", detail, exchange: null }, 0));
  };
  let stopped: string | null;
  try {
    const refused = await session.connectionProblem(session.options.patienceMs);
    stopped = refused === null ? null : `The receiver can't be reached: ${refused}`;
    if (refused !== null) blocked(REACHABLE, `nothing answers at ${session.options.url.host}: ${refused}`);
    else {
      const unreadable = await session.dropUnreadableProbe();
      if (unreadable !== null) blocked(PROBE, unreadable.message);
      stopped = await runChecks(session, { chosen, options, report, checks });
    }
  } finally {
    session.options.outbound.close();
  }
  return summed({ url, probe: options.probe ?? null, startedAt, stopped, checks, failOn: options.failOn });
}

function summed(
  graded: Pick<ReceiverReport, "url" | "probe" | "stopped" | "checks"> & {
    startedAt: Date;
    failOn: ReceiverReport["fail_on"] | undefined;
  },
): ReceiverReport {
  const { url, probe, stopped, checks, startedAt, failOn = "minor" } = graded;
  const count = (outcome: CheckReport["outcome"]) =>
    checks.filter((check) => check.outcome === outcome).length;
  const fails = ({ outcome, severity }: CheckReport) =>
    outcome === "error" || (outcome === "failed" && isGrave({ severity }, failOn));
  return {
    ...{ url, probe },
    started_at: startedAt.toISOString(),
    duration_ms: Date.now() - startedAt.getTime(),
    verdict: stopped === null && !checks.some(fails) ? "pass" : "fail",
    fail_on: failOn,
    stopped,
    summary: {
      total: checks.length,
      passed: count("passed"),
      failed: count("failed"),
      not_observable: count("not-observable"),
      error: count("error"),
    },
    checks,
    unseen: [...UNSEEN],
  };
}

/** Runs all chosen checks, or as many as make sense; returns why the others were left out, or null. */
async function runChecks(
  session: Session,
  run: {
    chosen: readonly Check[];
    options: GradeReceiverOptions;
    report: Reporter;
    checks: CheckReport[];
  },
): Promise<string | null> {
  const { chosen, options, report, checks } = run;
  let stopped: string | null = null;
  for (const [index, check] of chosen.entries()) {
    options.onProgress?.({ index: index + 1, total: chosen.length, title: check.title });
    const from = session.exchanges.length;
    const started = performance.now();
    const leaveOut = stopped !== null && !check.sendsNothing;
    const finding = leaveOut
      ? ({ outcome: "not-observable", detail: `${NOT_RUN}${stopped}`, exchange: null } satisfies Finding)
      : await runCheck(session, check);
    checks.push(report(check, finding, performance.now() - started));
    stopped ??= await reasonToStop(session, { check, from });
  }
  return stopped;
}

async function runCheck(session: Session, check: Check): Promise<Finding> {
  try {
    return await check.run(session);
  } catch (error) {
    session.options.signal?.throwIfAborted();
    if (error instanceof WebhookGone)
      return { outcome: "failed", detail: error.message, exchange: error.exchange };
    if (error instanceof ProbeError) {
      return { outcome: "error", detail: error.message, exchange: null, advice: PROBE.advice };
    }
    const message = error instanceof Error ? error.message : String(error);
    return { outcome: "error", detail: `the check itself failed: ${message}`, exchange: null };
  }
}

/** Looks at what a check exchanged: disabled by 410, never accepted, overloaded or gone since. */
async function reasonToStop(
  session: Session,
  { check, from }: { check: Check; from: number },
): Promise<string | null> {
  const isFirst = check === FIRST_CHECK;
  const isOverloaded = !isFirst && (await staysOverloaded(session, session.exchanges.slice(from)));
  const exchanges = session.exchanges.slice(from);
  if (exchanges.some((exchange) => exchange.genuine && statusOf(exchange) === 410)) {
    return "The receiver answered 410 to a genuine delivery: the service would have disabled the webhook and sent nothing more.";
  }
  if (isFirst && !exchanges.some((exchange) => exchange.genuine && isAccepted(exchange))) {
    return NOT_ACCEPTED;
  }
  if (isOverloaded) {
    return `The receiver answers 503 to every delivery since “${check.id}”, for longer than --patience lasts.`;
  }
  if (!exchanges.some(({ result }) => result.kind === "none")) return null;
  const problem = await session.connectionProblem(session.options.patienceMs);
  return problem === null
    ? null
    : `The receiver has stopped accepting connections during “${check.id}”: ${problem}.`;
}
