import { BaseUrlError, readBaseUrl } from "../har/base-url.ts";
import type { Change, Check, Context } from "./check.ts";
import { checksFor } from "./checks/index.ts";
import type { Contract } from "./contract.ts";
import { consoleOf, discoverInUnderstudy } from "./discover-understudy.ts";
import { KnownObjects } from "./known-objects.ts";
import type { CheckReport, VerifyReport } from "./report.ts";
import { assumptionsOf, summaryOf } from "./summary.ts";
import { type Exchange, Stopped, Target, type TargetOptions } from "./target.ts";
import { Verdict } from "./verdict.ts";

export interface VerifyOptions {
  contract: Contract;
  /** Base URL, without the version prefix. */
  target: string;
  key: string;
  /** Whether checks that change something run too. */
  write: boolean;
  /** By the names of `USABLE`. */
  uses?: ReadonlyMap<string, readonly string[]>;
  /** For the whole run, in milliseconds. */
  timeoutMs?: number;
  /** For each request. */
  requestTimeoutMs?: number;
  version: string;
  /** A part of the checks; all by default. */
  only?: (check: Check) => boolean;
  signal: AbortSignal;
  wait: TargetOptions["wait"];
  onStart?: (check: Check, place: { index: number; total: number }) => void;
  onEnd?: (report: CheckReport) => void;
}

/** Target or key cannot be used as they are written. */
export class VerifyUsageError extends Error {}

/** Nothing can be verified: nobody answers, or the key is refused. */
export class TargetUnusable extends Error {}

const TOTAL = 600_000;
const PER_REQUEST = 30_000;

/**
 * Runs the contract suite against a service, as the key's user.
 * @throws VerifyUsageError, TargetUnusable. What a service does wrong is a report, never an error; so is a
 * run that was stopped.
 */
export async function runVerify(options: VerifyOptions): Promise<VerifyReport> {
  const started = performance.now();
  const total = AbortSignal.timeout(options.timeoutMs ?? TOTAL);
  const target = new Target({
    url: readTarget(options.target),
    key: readKey(options.key),
    write: options.write,
    signal: AbortSignal.any([options.signal, total]),
    timeoutMs: options.requestTimeoutMs ?? PER_REQUEST,
    wait: options.wait,
    userAgent: `understudy-verify/${options.version}`,
  });
  const known = new KnownObjects(options.contract.names, options.uses);
  const run = new Run(options, { target, known });
  const began = new Date();
  await run.open();
  await run.all();
  return {
    ...{ target: target.options.url, organization_id: run.organization_id, write: options.write },
    started_at: began.toISOString(),
    duration_ms: Math.round(performance.now() - started),
    ...{ console: run.console, recorded: null },
    ...run.result(),
  };
}

class Run {
  organization_id: string | null = null;
  console: string | null = null;
  private readonly options: VerifyOptions;
  private readonly target: Target;
  private readonly known: KnownObjects;
  private readonly changes: Change[] = [];
  private readonly answered: Context["answered"] = new Map();
  private readonly reports: CheckReport[] = [];
  private readonly verdicts: Verdict[] = [];
  private stopped: string | null = null;

  constructor(options: VerifyOptions, { target, known }: Pick<Context, "target" | "known">) {
    this.options = options;
    this.target = target;
    this.known = known;
  }

  /** Says whose key it is; nothing else can be judged unless that works. @throws TargetUnusable */
  async open(): Promise<void> {
    const { target, known } = this;
    const first = await this.first();
    const { url, key, signal } = target.options;
    if (first.status === 0) throw new TargetUnusable(`nothing answers at ${url}: ${first.problem}`);
    if (first.status === 401)
      throw new TargetUnusable(`${url} refuses the key with 401: ${masked(first.text.slice(0, 300), key)}`);
    if (first.status >= 300 && first.status < 400)
      throw new TargetUnusable(`${url} redirects to ${first.headers.get("location")}; name that as --target`);
    this.organization_id = first.headers.get("service-organization");
    const organization_id = known.one("organization_id") ?? this.organization_id;
    if (organization_id !== null) known.found({ organization_id });
    if (!first.headers.has("x-sandbox-decision")) return;
    this.console = consoleOf(url);
    if (organization_id !== null)
      await discoverInUnderstudy({ target: url, key, organization_id, known, signal });
  }

  private async first(): Promise<Exchange> {
    try {
      return await this.target.send({ operation: this.options.contract.operation("models.list") });
    } catch (error) {
      const reason = this.reasonToStop(error);
      throw reason === undefined ? error : new TargetUnusable(reason);
    }
  }

  async all(): Promise<void> {
    const { contract, write, only = () => true } = this.options;
    const checks = checksFor(contract, write).filter(only);
    for (const [index, check] of checks.entries()) {
      this.options.onStart?.(check, { index, total: checks.length });
      const report = await this.one(check);
      this.reports.push(report);
      this.options.onEnd?.(report);
    }
  }

  private async one(check: Check): Promise<CheckReport> {
    const verdict = new Verdict();
    const from = this.target.exchanges.length;
    const started = performance.now();
    // What looks back at the answers sends nothing, so it is of use however far the run came.
    if (this.stopped !== null && check.family !== "headers")
      verdict.notObservable(`not run: ${this.stopped}`);
    else {
      try {
        await check.run({
          contract: this.options.contract,
          target: this.target,
          known: this.known,
          changes: this.changes,
          answered: this.answered,
          verdict,
        });
      } catch (error) {
        this.caught(check, error, verdict);
      }
    }
    this.verdicts.push(verdict);
    return this.report(check, verdict, { from, started });
  }

  private caught(check: Check, error: unknown, verdict: Verdict): void {
    const stopped = this.reasonToStop(error);
    if (stopped !== undefined) {
      this.stopped = stopped;
      verdict.notObservable(`not finished: ${stopped}`);
      return;
    }
    // Most likely an answer of another shape, which was judged before; it must not pass either way.
    const message = error instanceof Error ? error.message : String(error);
    const gap = check.section.startsWith("G") ? check.section : undefined;
    verdict.expect(false, `an answer could not be read: ${message}`, gap);
  }

  private reasonToStop(error: unknown): string | undefined {
    if (error instanceof Stopped) return error.message;
    if (this.options.signal.aborted) return "interrupted";
    return this.target.options.signal.aborted ? "the time for the whole run is over" : undefined;
  }

  private report(check: Check, verdict: Verdict, { from, started }: { from: number; started: number }) {
    const { id, family, section, title } = check;
    const clean = (text: string) => masked(text, this.target.options.key);
    const report: CheckReport = {
      ...{ id, family, section, title },
      outcome: verdict.outcome,
      failures: verdict.failures.map(clean),
      differences: verdict.differences.map(({ assumption, detail }) => ({
        assumption,
        detail: clean(detail),
      })),
      not_observed: verdict.notObserved,
      notes: verdict.notes,
      duration_ms: Math.round(performance.now() - started),
      requests: this.target.exchanges.slice(from).map(sentRequest),
    };
    return report;
  }

  result() {
    const checks = this.reports;
    const summary = summaryOf(checks);
    const lost = this.changes.some(({ undone, detail }) => !undone && detail.includes("answered"));
    const verdict =
      summary.failed === 0 && this.stopped === null && !lost ? ("pass" as const) : ("fail" as const);
    return {
      verdict,
      stopped: this.stopped,
      requests: this.target.exchanges.length,
      summary,
      changes: this.changes,
      assumptions: assumptionsOf(checks, this.verdicts),
      checks,
    };
  }
}

export function sentRequest({ method, path, status, headers }: Exchange) {
  return { method, path, status, request_id: headers.get("x-request-id") };
}

/** A service may repeat the key in an answer; a report is passed around. */
function masked(text: string, key: string): string {
  return text.replaceAll(key, "[key]");
}

/** @throws VerifyUsageError */
function readTarget(text: string): string {
  try {
    return readBaseUrl(text);
  } catch (error) {
    throw error instanceof BaseUrlError ? new VerifyUsageError(error.message) : error;
  }
}

/** @throws VerifyUsageError for what no header can carry */
function readKey(key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new VerifyUsageError("--key must be one word of printable ASCII");
  return key;
}
