import { cutText } from "../../engine/contract/text.ts";
import { MAX_TIMEOUT_MS } from "../../engine/platform.ts";
import { abortAfter } from "../../engine/state/concurrency.ts";
import { runChecks } from "../checks/run-checks.ts";
import { InputError, readTarget, UnusableTargetError } from "../input.ts";
import { type Check, createContext, NotObservable, type RunParts } from "./check.ts";
import { isDeclaredSuccess } from "./check-answer.ts";
import { listChecks } from "./checks/index.ts";
import type { Contract } from "./contract.ts";
import { discoverInUnderstudy, findConsoleUrl } from "./discover-understudy.ts";
import type { Call } from "./exchange.ts";
import { inventParams, KnownObjects } from "./known-objects.ts";
import { isHarmless, readNeededQuery } from "./own-operation.ts";
import { type CheckReport, countAssumptions, decideVerdict, summarize, type VerifyReport } from "./report.ts";
import { type Exchange, RunStopped, Target, type TargetOptions } from "./target.ts";
import { Verdict } from "./verdict.ts";

export interface VerifyOptions {
  contract: Contract;
  /** Base URL, without the version prefix. */
  target: string;
  key: string;
  /** Whether to run the checks that change something too. */
  write: boolean;
  /** Whether only own operations are checked: the service need not have the reference's. */
  own?: boolean;
  /** Whether differences from assumptions fail too. */
  strict?: boolean;
  /** Ids of objects to use, by the names in `USABLE_NAMES`. */
  idsToUse?: ReadonlyMap<string, readonly string[]>;
  /** For the whole run, in milliseconds. */
  timeoutMs?: number;
  version: string;
  /** Selects checks; by default all, or with `own` those of own operations. */
  only?: (check: Check) => boolean;
  signal: AbortSignal;
  wait: TargetOptions["wait"];
  onStart?: (check: Check, position: { index: number; total: number }) => void;
  onEnd?: (report: CheckReport) => void;
}

const TOTAL_TIMEOUT_MS = 600_000;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Runs the contract suite against a service, as the key's user.
 * @throws InputError, UnusableTargetError. A service's mistakes, or a stopped run, are a report, never an error.
 */
export async function runVerify(options: VerifyOptions): Promise<VerifyReport> {
  return new Run(options).run();
}

class Run {
  private readonly options: VerifyOptions;
  private readonly parts: RunParts;
  private readonly verdicts: Verdict[] = [];
  private organization_id: string | null = null;
  private console: string | null = null;
  private stopped: string | null = null;

  constructor(options: VerifyOptions) {
    this.options = options;
    const { contract, idsToUse, write, wait, timeoutMs = TOTAL_TIMEOUT_MS } = options;
    const total = abortAfter(Math.min(timeoutMs, MAX_TIMEOUT_MS));
    const target = new Target({
      url: readTarget(options.target),
      key: readKey(options.key),
      write,
      signal: AbortSignal.any([options.signal, total]),
      timeoutMs: REQUEST_TIMEOUT_MS,
      wait,
      userAgent: `understudy-verify/${options.version}`,
    });
    const known = new KnownObjects(contract.names, idsToUse);
    this.parts = { contract, target, known, changes: [], failedUndos: 0, successes: new Map() };
  }

  async run(): Promise<VerifyReport> {
    const started = performance.now();
    const startedAt = new Date();
    await this.findKeyOwner();
    const checks = await this.runAll();
    const summary = summarize(checks);
    const { target, changes } = this.parts;
    const { options, organization_id, console, stopped } = this;
    const isIncomplete = stopped !== null || this.parts.failedUndos > 0;
    return {
      target: target.options.url,
      organization_id,
      write: options.write,
      started_at: startedAt.toISOString(),
      duration_ms: Math.round(performance.now() - started),
      console,
      recorded: null,
      verdict: isIncomplete ? "fail" : decideVerdict(summary, options.strict === true),
      stopped,
      requests: target.exchanges.length,
      summary,
      changes,
      assumptions: countAssumptions(checks, this.verdicts),
      checks,
    };
  }

  /** Finds the organization of the key's user. @throws UnusableTargetError if target or key are of no use */
  private async findKeyOwner(): Promise<void> {
    const { target, known } = this.parts;
    const first = await this.sendFirstCall();
    const { url, key, signal } = target.options;
    if (first.status === 0) throw new UnusableTargetError(`nothing answers at ${url}: ${first.problem}`);
    const text = cutText(this.redact(first.text), 300);
    if (first.status === 401 && first.authenticated)
      throw new UnusableTargetError(`${url} refuses the key with 401: ${text}`);
    if (["unknown-sandbox", "misdirected"].includes(first.headers.get("x-sandbox-decision") ?? ""))
      throw new UnusableTargetError(`${url} addresses no sandbox: ${text}`);
    const isExpected = first.operation !== undefined && isDeclaredSuccess(first);
    if (first.status >= 300 && first.status < 400 && !isExpected) {
      const location = this.redact(String(first.headers.get("location")));
      throw new UnusableTargetError(`${url} redirects to ${location}; use that as --target`);
    }
    this.organization_id = first.headers.get("service-organization");
    const organization_id = known.findOne("organization_id") ?? this.organization_id;
    if (organization_id !== null) known.addRelatedIds({ organization_id });
    if (!first.headers.has("x-sandbox-decision")) return;
    this.console = findConsoleUrl(url);
    if (organization_id !== null)
      await discoverInUnderstudy({ target: url, key, organization_id, known, signal });
  }

  private async sendFirstCall(): Promise<Exchange> {
    try {
      return await this.parts.target.send(this.chooseFirstCall());
    } catch (error) {
      const reason = this.findReasonToStop(error);
      throw reason === undefined ? error : new UnusableTargetError(reason);
    }
  }

  private chooseFirstCall(): Call {
    const { contract, own } = this.options;
    if (own !== true) return { operation: contract.getOperation("models.list") };
    const calls = contract.operations.flatMap((operation): Call[] => {
      const [needed, params] = [readNeededQuery(operation), inventParams(operation)];
      const isUsable =
        operation.sourceFile !== undefined && isHarmless(operation) && operation.credentials !== false;
      return isUsable && params !== undefined && "query" in needed ? [{ operation, params, ...needed }] : [];
    });
    const withoutParameters = calls.find(({ operation }) => !operation!.path.includes("{"));
    return withoutParameters ?? calls[0] ?? { path: "/", credential: "none" };
  }

  private async runAll(): Promise<CheckReport[]> {
    const { contract, write, own = false, onStart, onEnd } = this.options;
    const isSelected = ({ id }: Check) => !own || contract.isOwn(id.slice(0, id.lastIndexOf("/")));
    const { only = isSelected } = this.options;
    let exchangesBefore = 0;
    const { reports } = await runChecks<Check, Verdict, CheckReport>(
      listChecks(contract, { write }).filter(only),
      {
        onStart: (check, position) => {
          exchangesBefore = this.parts.target.exchanges.length;
          onStart?.(check, position);
        },
        onEnd,
        run: (check) => this.runCheck(check),
        skip(_check, reason) {
          const verdict = new Verdict();
          verdict.notObservable(`not run: ${reason}`);
          return verdict;
        },
        report: (check, verdict, durationMs) => this.report(check, verdict, { exchangesBefore, durationMs }),
        findReasonToStop: () => this.stopped,
      },
    );
    return reports;
  }

  private async runCheck(check: Check): Promise<Verdict> {
    const context = createContext(this.parts);
    const { verdict } = context;
    try {
      await check.run(context);
    } catch (error) {
      const stopped = this.findReasonToStop(error);
      if (error instanceof NotObservable) verdict.notObservable(error.message);
      else if (stopped === undefined) recordUnreadable(verdict, check, error);
      else {
        this.stopped = stopped;
        verdict.notObservable(`not finished: ${stopped}`);
      }
    }
    return verdict;
  }

  private findReasonToStop(error: unknown): string | undefined {
    if (error instanceof RunStopped) return error.message;
    if (this.options.signal.aborted) return "interrupted";
    return this.parts.target.options.signal.aborted ? "the whole run took too long" : undefined;
  }

  /** A service may repeat the key in an answer, and reports are shared. */
  private redact(text: string): string {
    return text.replaceAll(this.parts.target.options.key, "[key]");
  }

  private report(
    check: Check,
    verdict: Verdict,
    { exchangesBefore, durationMs }: { exchangesBefore: number; durationMs: number },
  ): CheckReport {
    this.verdicts.push(verdict);
    return toCheckReport(check, verdict, {
      redact: (text) => this.redact(text),
      durationMs,
      requests: this.parts.target.exchanges.slice(exchangesBefore).map(toSentRequest),
    });
  }
}

/** Records that a check could not read an answer, most likely because of its shape. Another check reports the shape; this one must not pass. */
export function recordUnreadable(
  verdict: Verdict,
  { section }: Pick<Check, "section">,
  error: unknown,
): void {
  const message = error instanceof TypeError ? "it has another form" : (error as Error).message;
  const assumption = section.startsWith("G") ? section : undefined;
  verdict.expect(false, `an answer could not be read: ${message}`, assumption);
}

export function toCheckReport(
  { id, family, section, title }: Omit<Check, "run">,
  verdict: Verdict,
  {
    redact,
    durationMs,
    requests,
  }: { redact: (text: string) => string; durationMs: number; requests: CheckReport["requests"] },
): CheckReport {
  return {
    id,
    family,
    section,
    title,
    outcome: verdict.outcome,
    failures: verdict.failures.map(redact),
    differences: verdict.differences.map(({ assumption, detail }) => ({
      assumption,
      detail: redact(detail),
    })),
    not_observed: verdict.notObserved.map(redact),
    notes: verdict.notes.map(redact),
    duration_ms: Math.round(durationMs),
    requests,
  };
}

export function toSentRequest({ method, path, status, headers }: Exchange) {
  return { method, path, status, request_id: headers.get("x-request-id") };
}

/** @throws InputError for a key that no header can contain */
function readKey(key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new InputError("--key must be one word of printable ASCII");
  return key;
}
