import type { Check, Finding } from "./check.ts";
import { secretSpellings } from "./checks/answers.ts";
import { CHECKS } from "./checks/index.ts";
import { curlCommand } from "./curl.ts";
import { freshId } from "./delivery.ts";
import { Probe, ProbeError } from "./probe.ts";
import { type CheckReport, NOT_RUN, type ReceiverReport, type ReportedRequest } from "./report.ts";
import { openOutbound } from "./send-raw.ts";
import { type Exchange, Session, WebhookGone } from "./session.ts";

export interface GradeReceiverOptions {
  url: string;
  /** The signing secret that the receiver was given. */
  secret: string;
  /** Answers GET with the number of side effects so far, or the list of processed delivery ids. */
  probe?: string | undefined;
  /** For each request, in milliseconds; the service itself waits 30 s (6.4). */
  timeoutMs?: number;
  /** The setting `service_name`, as in the User-Agent. */
  serviceName?: string;
  /** How long the probe must stand still to be believed, in milliseconds. */
  settleMs?: number;
  /** How long a side effect may follow its answer, and how long a crashed receiver may take to be back. */
  patienceMs?: number;
  /** Called as each check begins; `index` counts from 1. */
  onProgress?: ((progress: { index: number; total: number; title: string }) => void) | undefined;
  /** A file of certificates (PEM) to trust beside Node's own. */
  caFile?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The URL, probe or secret can't be used: wrong usage, not a failing receiver. */
export class ReceiverTestUsageError extends Error {}

const REACHABLE: Omit<Check, "run"> = {
  id: "reachable",
  title: "Accepts connections",
  severity: "critical",
  why: "Nothing can be delivered, or graded, while nobody listens.",
  advice: "Start the receiver, and check host, port and scheme of the URL.",
};

const PROBE: Omit<Check, "run"> = {
  id: "probe",
  title: "The probe can be read",
  severity: "critical",
  why: "Whether a delivery was processed once shows in side effects, not in answers; nothing can be said of them without the probe.",
  advice:
    "Let the probe answer GET with 200 and JSON: how many deliveries were processed, or the list of their ids, one entry per side effect.",
};

const NOT_ACCEPTED =
  "The receiver doesn't accept a valid delivery, so its other answers would prove nothing: a refusal could have any reason.";

/**
 * Grades a webhook receiver against section 6: sends it valid, forged, odd and repeated deliveries and
 * judges its answers, and its side effects where a probe shows them.
 *
 * @throws ReceiverTestUsageError when url, probe or secret can't be used.
 * @throws the signal's reason when it is aborted. A receiver that fails or is down is a report, never an error.
 */
export async function gradeReceiver(options: GradeReceiverOptions): Promise<ReceiverReport> {
  const session = openSession(options);
  const startedAt = new Date();
  const started = performance.now();
  const checks: CheckReport[] = [];
  const about = { masked: masker(options.secret), caFile: options.caFile };

  const blocked = (check: Omit<Check, "run">, detail: string) => {
    checks.push(toReport(check, { outcome: "error", detail, exchange: null }, { ...about, durationMs: 0 }));
  };
  let stopped: string | null;
  try {
    const refused = await session.connectionProblem(session.options.patienceMs);
    stopped = refused === null ? null : `The receiver can't be reached: ${refused}`;
    if (refused !== null) blocked(REACHABLE, `nothing answers at ${session.options.url.host}: ${refused}`);
    else {
      const unreadable = await session.dropUnreadableProbe();
      if (unreadable !== null) blocked(PROBE, unreadable.message);
      stopped = await runChecks(session, options, checks);
    }
  } finally {
    session.options.outbound.close();
  }
  const count = (outcome: CheckReport["outcome"]) =>
    checks.filter((check) => check.outcome === outcome).length;
  const summary = {
    total: checks.length,
    passed: count("passed"),
    failed: count("failed"),
    not_observable: count("not-observable"),
    error: count("error"),
  };
  return {
    url: options.url,
    probe: options.probe ?? null,
    started_at: startedAt.toISOString(),
    duration_ms: Math.round(performance.now() - started),
    verdict: stopped === null && summary.failed + summary.error === 0 ? "pass" : "fail",
    stopped,
    summary,
    checks,
  };
}

/** Runs all checks, or as many as make sense; returns why the others were left out, or null. */
async function runChecks(
  session: Session,
  options: GradeReceiverOptions,
  reports: CheckReport[],
): Promise<string | null> {
  const about = { masked: masker(options.secret), caFile: options.caFile };
  let stopped: string | null = null;
  for (const [index, check] of CHECKS.entries()) {
    options.onProgress?.({ index: index + 1, total: CHECKS.length, title: check.title });
    const from = session.exchanges.length;
    const started = performance.now();
    const leaveOut = stopped !== null && !check.sendsNothing;
    const finding = leaveOut
      ? ({ outcome: "not-observable", detail: `${NOT_RUN}${stopped}`, exchange: null } satisfies Finding)
      : await runCheck(session, check);
    const report = toReport(check, finding, {
      ...about,
      durationMs: Math.round(performance.now() - started),
    });
    reports.push(report);
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

/** Looks at what a check exchanged: disabled by 410, never accepted, or gone since. */
async function reasonToStop(
  session: Session,
  { check, from }: { check: Check; from: number },
): Promise<string | null> {
  const exchanges = session.exchanges.slice(from);
  const statuses = exchanges.map(({ result }) => (result.kind === "answer" ? result.status : 0));
  if (exchanges.some(({ genuine }, index) => genuine && statuses[index] === 410)) {
    return "The receiver answered 410 to a genuine delivery: the service would have disabled the webhook and sent nothing more.";
  }
  if (check.id === CHECKS[0]!.id && !statuses.some((status) => status >= 200 && status < 300))
    return NOT_ACCEPTED;
  if (!exchanges.some(({ result }) => result.kind === "none")) return null;
  const problem = await session.connectionProblem(session.options.patienceMs);
  return problem === null
    ? null
    : `The receiver has stopped accepting connections during “${check.id}”: ${problem}.`;
}

/** Beyond a day, and long before timers overflow. */
const LONGEST_TIMEOUT = 86_400_000;

function openSession(options: GradeReceiverOptions): Session {
  if (options.secret === "") throw new ReceiverTestUsageError("the signing secret is empty");
  const timeoutMs = options.timeoutMs ?? 30_000;
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT)) {
    throw new ReceiverTestUsageError("the timeout must be more than 0 and at most 86400 seconds");
  }
  const { signal } = options;
  const probe = options.probe === undefined ? null : readUrl("probe", options.probe);
  const patienceMs = options.patienceMs ?? 3000;
  if (!(patienceMs >= 0 && patienceMs <= LONGEST_TIMEOUT)) {
    throw new ReceiverTestUsageError("the patience must be from 0 to 86400 seconds");
  }
  const settleMs = options.settleMs ?? 150;
  const url = readUrl("receiver", options.url);
  const outbound = openOutbound(options.caFile);
  return new Session({
    url,
    outbound,
    patienceMs,
    secret: options.secret,
    webhookId: freshId("wh"),
    serviceName: options.serviceName ?? "Service",
    timeoutMs,
    probe: probe && new Probe({ url: probe, outbound, timeoutMs, patienceMs, settleMs, signal }),
    signal,
  });
}

/** G23: http or https, absolute, no credentials in it. */
function readUrl(what: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    throw new ReceiverTestUsageError(`the ${what} URL must be an absolute http or https URL, not "${text}"`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new ReceiverTestUsageError(`the ${what} URL must not hold credentials`);
  }
  url.hash = "";
  return url;
}

function toReport(
  { id, title, severity, why, advice }: Omit<Check, "run">,
  finding: Finding,
  {
    masked,
    caFile,
    durationMs,
  }: { masked: (text: string) => string; caFile: string | undefined; durationMs: number },
): CheckReport {
  const { outcome, detail, exchange, note } = finding;
  return {
    ...{ id, title, severity, why, outcome },
    detail: masked(detail),
    advice: finding.advice ?? advice,
    note: note ?? null,
    duration_ms: durationMs,
    request: exchange && reportedRequest(exchange),
    curl: exchange && curlCommand(exchange.request, caFile),
  };
}

/** Reports are passed around; what a receiver disclosed must not spread with them. */
function masker(secret: string): (text: string) => string {
  const spellings = secretSpellings(secret);
  return (text) => spellings.reduce((rest, spelling) => rest.replaceAll(spelling, "[secret]"), text);
}

const SHOWN_CHARACTERS = 2000;

function reportedRequest({ request }: Exchange): ReportedRequest {
  const text = request.body.toString("utf8");
  return {
    method: request.method,
    url: request.url.href,
    headers: request.headers,
    body: text.length > SHOWN_CHARACTERS ? `${text.slice(0, 400)} … ${text.slice(-200)}` : text,
    body_bytes: request.body.length,
  };
}
