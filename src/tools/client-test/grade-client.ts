import type { JournalEntry, SettingsChange } from "../../../types/control-api.ts";
import { pluralize } from "../../engine/contract/text.ts";
import { MAX_TIMEOUT_MS } from "../../engine/platform.ts";
import { countOutcomes } from "../checks/run-checks.ts";
import { InputError } from "../input.ts";
import { CLIENT_CHECKS } from "./checks/index.ts";
import {
  type ClientCheck,
  type ClientFinding,
  type ClientRun,
  describeRequest,
  type GradedSandbox,
  notObservable,
  type RunEnd,
  type Stage,
} from "./client-check.ts";
import type {
  ClientCheckReport,
  ClientReport,
  GradeClientOptions,
  RunClient,
} from "./client-report-types.ts";

/** An option has a wrong value, such as a check that does not exist. */
export class ClientTestUsageError extends InputError {
  override readonly name = "ClientTestUsageError";
}

/** Thrown by a run whose client does not end. */
export class ClientHangs extends Error {}

const TIMEOUT_MS = 20_000;
/** Time for a run to end by itself after the signal. */
const GRACE_MS = 1000;
/** A run is stopped after this many requests: a client with a flaw may repeat one for ever. */
const MAX_REQUESTS = 5000;
const COUNT_INTERVAL_MS = 500;
/** The journal's limit during a run, unless it is higher. Requests still arrive until the run has stopped. */
const JOURNAL_LIMIT = 50_000;
/** The snapshot from which each run begins. */
export const SNAPSHOT_NAME = "before-client-test";
/** Begins the ids of the test's rules; other rules stay active. */
export const RULE_PREFIX = "client-test-";
/** Rules end by themselves if the test is gone, as with a closed page; a hidden page's timers run once a minute. */
const LEASE_MS = 180_000;
const RENEW_MS = 60_000;

/**
 * Runs a client against a sandbox, first without failures, then once for each kind of failure, and reads its behaviour
 * from the timeline (interfaces.md 21). Each run begins with the sandbox's original state, which is restored at the end.
 * @throws ClientTestUsageError
 */
export async function gradeClient(
  sandbox: GradedSandbox,
  run: RunClient,
  options: GradeClientOptions = {},
): Promise<ClientReport> {
  const started = performance.now();
  const checks = selectChecks(options);
  // First the run without failures, which has no stage.
  const stages = new Map<Stage | undefined, ClientCheck[]>([[undefined, []]]);
  for (const check of checks) stages.set(check.stage, [...(stages.get(check.stage) ?? []), check]);
  await sandbox.snapshots.save(SNAPSHOT_NAME);
  const runner = new ClientRunner(sandbox, run, options);
  const reports = new Map<ClientCheck, ClientCheckReport>();
  let baseline: ClientRun | undefined;
  let stopped: string | null = null;
  let runs = 0;
  const exports: Record<string, Uint8Array> = {};
  try {
    for (const [stage = {}, group] of stages) {
      if (options.signal?.aborted)
        stopped = `The test was stopped by its user before run ${runs + 1} of ${stages.size}.`;
      if (stopped !== null) break;
      const runStarted = performance.now();
      const earlierBaseline = baseline;
      options.onRun?.({
        run: runs + 1,
        of: stages.size,
        checks: group.map(({ id }) => id),
        observe: async () => {
          const soFar = await runner.read(stage, { how: "ok", detail: "" });
          const isUsed = soFar.run!.requests.length > 0;
          const readSoFar = (check: ClientCheck) =>
            check.readsEnd || !isUsed
              ? PENDING_FINDING
              : readFinding(check, soFar, earlierBaseline ?? soFar.run!);
          return group.map((check) => toReport(check, readSoFar(check)));
        },
      });
      const staged = await runner.runStage(stage, baseline);
      if (options.signal?.aborted) {
        stopped = `The test was stopped by its user in run ${runs + 1} of ${stages.size}.`;
        break;
      }
      runs += 1;
      if (baseline === undefined) {
        // Without rules to choose, this run always takes place.
        baseline = staged.run!;
        stopped = findReasonNotGraded(baseline);
        if (stopped !== null) break;
      }
      const duration_ms = Math.round(performance.now() - runStarted);
      for (const check of group) {
        reports.set(check, toReport(check, readFinding(check, staged, baseline), duration_ms));
      }
      const failing = group.filter((check) => reports.get(check)?.outcome === "failed");
      if (options.exportFailed && failing.length > 0 && sandbox.export !== undefined) {
        const file = await sandbox.export();
        for (const { id } of failing) exports[id] = file;
      }
    }
  } finally {
    await sandbox.snapshots.restore(SNAPSHOT_NAME);
    await sandbox.snapshots.remove(SNAPSHOT_NAME);
  }
  const results = checks.flatMap((check) => reports.get(check) ?? []);
  const failures = results.filter(({ outcome }) => outcome === "failed");
  const hasFailed = failures.some(({ severity }) => severity === "error");
  return {
    verdict: stopped !== null ? "not-graded" : hasFailed ? "fail" : "pass",
    failures: failures.map(({ id, severity, why }) => `${id} (${severity}): ${why}`),
    stopped,
    summary: countOutcomes(results),
    runs,
    requests: baseline?.requests.length ?? 0,
    duration_ms: Math.round(performance.now() - started),
    checks: results,
    exports,
  };
}

/** @throws ClientTestUsageError */
function selectChecks({ only, skip = [], timeoutMs = TIMEOUT_MS }: GradeClientOptions): ClientCheck[] {
  for (const [option, list] of Object.entries({ only: only ?? [], skip }))
    if (!Array.isArray(list))
      throw new ClientTestUsageError(`${option} is a list of checks, not ${JSON.stringify(list)}`);
  if (typeof timeoutMs !== "number")
    throw new ClientTestUsageError(`timeoutMs is a number, not ${JSON.stringify(timeoutMs)}`);
  const ids = CLIENT_CHECKS.map(({ id }) => id);
  for (const id of [...(only ?? []), ...skip])
    if (!ids.includes(id))
      throw new ClientTestUsageError(`there is no check ${JSON.stringify(id)}; there are ${ids.join(", ")}`);
  const selected = CLIENT_CHECKS.filter(({ id }) => (only?.includes(id) ?? true) && !skip.includes(id));
  if (selected.length === 0) throw new ClientTestUsageError("no check is left to run");
  return selected;
}

/** Null if the run without failures shows what the client does. */
function findReasonNotGraded({ requests, end }: ClientRun): string | null {
  const { how, detail } = end;
  const endNote = { ok: "", failed: ` It ended with: ${detail}.`, "timed out": ` It ${detail}.` }[how];
  const [first] = requests;
  if (first === undefined)
    return `The client made no request to the sandbox.${endNote} It must call the sandbox's address, not one that is fixed in its code; \`understudy client-test\` gives its command the address as UNDERSTUDY_BASE_URL.`;
  if (!requests.some(({ status }) => status >= 200 && status < 400)) {
    const why = first.reasons.at(-1);
    const answer = `got ${first.status || "no answer"}${why === undefined ? "" : ` (${why})`}`;
    return `No request of the client succeeded even without failures: ${describeRequest(first)} ${answer}.${endNote} Make it work first.`;
  }
  return how === "failed"
    ? `The client ended with an error even without failures: ${detail}. Make it work first; its first requests reached the sandbox.`
    : null;
}

interface StagedRun {
  /** Undefined if the stage could not be set; `why` says why. */
  run: ClientRun | undefined;
  why: string;
  collected: unknown;
}

function readFinding(
  check: ClientCheck,
  { run, why, collected }: StagedRun,
  baseline: ClientRun,
): ClientFinding {
  return run === undefined
    ? notObservable(why)
    : check.read({ run, baseline, cleanRequests: baseline.requests, isMixed: false, collected });
}

const PENDING_FINDING = notObservable("it is seen when the run has ended");

function toReport(
  { id, title, severity, advice }: ClientCheck,
  finding: ClientFinding,
  duration_ms = 0,
): ClientCheckReport {
  return { id, title, severity, ...finding, advice, duration_ms };
}

class ClientRunner {
  private readonly sandbox: GradedSandbox;
  private readonly run: RunClient;
  private readonly options: GradeClientOptions;

  constructor(sandbox: GradedSandbox, run: RunClient, options: GradeClientOptions) {
    this.sandbox = sandbox;
    this.run = run;
    this.options = options;
  }

  /** @param baseline undefined for the run without failures */
  async runStage(stage: Stage, baseline: ClientRun | undefined): Promise<StagedRun> {
    const { sandbox } = this;
    await sandbox.snapshots.restore(SNAPSHOT_NAME);
    const before = await sandbox.info();
    const rules = baseline === undefined ? [] : ((await stage.rules?.(baseline, sandbox)) ?? []);
    if (typeof rules === "string") return { run: undefined, why: rules, collected: undefined };
    // Checks measure the client's pauses in sandbox time, so the clock runs as fast as real time.
    if (before.clock.mode !== "real") await sandbox.clock.set({ mode: "scaled", rate: 1 });
    // The newest rule comes first (interfaces.md 6).
    const armedRules = rules.toReversed().map((rule, index) => ({
      ...rule,
      id: `${RULE_PREFIX}${index + 1}`,
      lease: { ttl: LEASE_MS },
    }));
    const renewal = setInterval(() => {
      // A rule that is used up is refused.
      for (const rule of armedRules) sandbox.faults.add(rule).catch(() => {});
    }, RENEW_MS);
    const journal_limit = Math.max(JOURNAL_LIMIT, before.settings.journal_limit);
    const settings = { ...stage.settings, journal_limit };
    try {
      for (const rule of armedRules) await sandbox.faults.add(rule);
      await sandbox.configure(settings);
      await sandbox.journal.clear();
      return await this.read(stage, await this.runOnce());
    } finally {
      clearInterval(renewal);
      // The user, or a reset, may have disarmed it.
      for (const { id } of armedRules) await sandbox.faults.remove(id).catch(() => {});
      await sandbox.configure(pickSettings(before.settings, settings));
    }
  }

  async read(stage: Stage, end: RunEnd): Promise<StagedRun> {
    const { sandbox } = this;
    const collected = await stage.collect?.(sandbox);
    const { entries } = await sandbox.journal.list({ kind: "request" });
    const requests = entries.toReversed().slice(0, MAX_REQUESTS);
    return { run: { end, requests, isHit }, why: "", collected };
  }

  private async runOnce(): Promise<RunEnd> {
    const { timeoutMs = TIMEOUT_MS, signal } = this.options;
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal?.addEventListener("abort", abort, { once: true });
    let timer: ReturnType<typeof setTimeout> | undefined;
    let counter: ReturnType<typeof setInterval> | undefined;
    const limit: Promise<RunEnd> = new Promise((resolve) => {
      const exceed = (bound: string) => resolve({ how: "timed out", detail: `did not end within ${bound}` });
      timer = setTimeout(() => exceed(`${timeoutMs / 1000} s`), Math.min(timeoutMs, MAX_TIMEOUT_MS));
      counter = setInterval(async () => {
        const page = await this.sandbox.journal.list({ kind: "request", limit: 1 }).catch(() => undefined);
        if (page !== undefined && page.total >= MAX_REQUESTS) exceed(`${MAX_REQUESTS} requests`);
      }, COUNT_INTERVAL_MS);
    });
    const running = Promise.resolve()
      .then(() => {
        // The user may have stopped the test while the run was prepared.
        signal?.throwIfAborted();
        return this.run(stop.signal);
      })
      .then(
        (): RunEnd => ({ how: "ok", detail: "" }),
        (error: unknown): RunEnd => ({
          how: error instanceof ClientHangs ? "timed out" : "failed",
          detail: error instanceof Error ? error.message : String(error),
        }),
      );
    const end = await Promise.race([running, limit]);
    clearTimeout(timer);
    clearInterval(counter);
    signal?.removeEventListener("abort", abort);
    stop.abort();
    if (end.how === "timed out")
      await Promise.race([running, new Promise((resolve) => setTimeout(resolve, GRACE_MS))]);
    return end;
  }
}

const isHit = ({ decision }: JournalEntry) => decision.startsWith(`fault:inline/${RULE_PREFIX}`);

function pickSettings(before: object, changed: SettingsChange): SettingsChange {
  const names = Object.keys(changed);
  return Object.fromEntries(Object.entries(before).filter(([name]) => names.includes(name)));
}

export function describeReport({ verdict, stopped, summary, runs, duration_ms }: ClientReport): string {
  if (stopped !== null) return stopped;
  const { passed, failed, not_observable } = summary;
  const counts = `${passed} passed, ${failed} failed, ${not_observable} not observable`;
  return `${verdict === "pass" ? "PASS" : "FAIL"}  ${counts}, in ${pluralize(runs, "run")} of the client and ${(duration_ms / 1000).toFixed(0)} s`;
}
