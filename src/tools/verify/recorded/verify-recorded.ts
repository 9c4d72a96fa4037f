import { readTarget } from "../../input.ts";
import { MASK, redactText } from "../../redact.ts";
import type { Check } from "../check.ts";
import { hasSucceeded } from "../check-answer.ts";
import { listChecks } from "../checks/index.ts";
import type { Contract } from "../contract.ts";
import {
  type CheckReport,
  countAssumptions,
  decideVerdict,
  type RecordedReport,
  type SentRequest,
  summarize,
  type VerifyReport,
} from "../report.ts";
import { recordUnreadable, toCheckReport, toSentRequest } from "../run-verify.ts";
import type { Exchange } from "../target.ts";
import { RecordingVerdict } from "../verdict.ts";
import {
  type ExchangeVisitor,
  type OperationExchange,
  OTHER_HOST,
  UNKNOWN_PATH,
  visitExchanges,
} from "./archive.ts";
import { createOperationChecks, hasCredentials, type RecordedCheck } from "./every-operation.ts";
import { createOverTimeChecks } from "./over-time.ts";

interface RecordedOptions {
  contract: Contract;
  /** An HTTP Archive 1.2, of any length. */
  file: string;
  /** Base URL of the service; undefined: the archive's one with the most operations. */
  target: string | undefined;
  /** Whether differences from assumptions fail too. */
  strict?: boolean;
}

/**
 * Checks recorded answers by the contract, without sending anything (interfaces.md 12).
 * @throws InputError; UnusableTargetError if nothing in the archive belongs to this API
 */
export async function verifyRecorded(options: RecordedOptions): Promise<VerifyReport> {
  const { contract, file, target } = options;
  const started = performance.now();
  const startedAt = new Date();
  let verifier!: RecordingVerifier;
  const archive = { contract, file, target: target === undefined ? undefined : readTarget(target) };
  const { base, creator, entries } = await visitExchanges(archive, ({ showsCredentials }) => {
    verifier = new RecordingVerifier(contract, { showsCredentials });
    return verifier;
  });
  const checks = verifier.listReports();
  const summary = summarize(checks);
  return {
    target: base,
    organization_id: verifier.organization_id,
    write: false,
    started_at: startedAt.toISOString(),
    duration_ms: Math.round(performance.now() - started),
    console: null,
    recorded: { file, creator, entries, ...verifier.counts },
    verdict: decideVerdict(summary, options.strict === true),
    stopped: null,
    requests: verifier.counts.checked,
    summary,
    changes: [],
    assumptions: countAssumptions(checks, verifier.listVerdicts()),
    checks,
  };
}

const MAX_REQUESTS_PER_CHECK = 20;

interface RunningCheck {
  check: RecordedCheck;
  checkExchange: ReturnType<RecordedCheck["observe"]["begin"]>;
  verdict: RecordingVerdict;
  requests: SentRequest[];
}

/** Verifies recorded exchanges one by one, without storing them. */
class RecordingVerifier implements ExchangeVisitor {
  organization_id: string | null = null;
  readonly counts: Omit<RecordedReport, "file" | "creator" | "entries"> = {
    checked: 0,
    other_hosts: 0,
    unknown_paths: 0,
    not_checked: {},
    partly_checked: {},
    operations: [],
  };
  private readonly runningChecks: readonly RunningCheck[];
  private readonly byOperation = new Map<string, RunningCheck[]>();
  private readonly showsCredentials: boolean;

  constructor(contract: Contract, { showsCredentials }: { showsCredentials: boolean }) {
    this.showsCredentials = showsCredentials;
    this.runningChecks = createRecordedChecks(contract).map((check) => ({
      check,
      checkExchange: check.observe.begin(),
      verdict: new RecordingVerdict(),
      requests: [],
    }));
    for (const { id } of contract.operations) {
      const checksOfOperation = this.runningChecks.filter(
        ({ check: { observe } }) => (observe.operation ?? id) === id,
      );
      this.byOperation.set(id, checksOfOperation);
    }
  }

  visit(recorded: OperationExchange): void {
    const { counts } = this;
    if (!recorded.hasHeaders) return void this.skip("with the headers left out");
    counts.checked += 1;
    const masked = recorded.answer.text.includes(MASK) ? "with masked values" : undefined;
    for (const reason of [recorded.missing, masked])
      if (reason !== undefined) counts.partly_checked[reason] = (counts.partly_checked[reason] ?? 0) + 1;
    if (!counts.operations.includes(recorded.operation.id)) counts.operations.push(recorded.operation.id);
    this.checkExchange(this.toExchange(recorded));
  }

  skip(reason: string): void {
    const { counts } = this;
    if (reason === OTHER_HOST) counts.other_hosts += 1;
    else if (reason === UNKNOWN_PATH) counts.unknown_paths += 1;
    else counts.not_checked[reason] = (counts.not_checked[reason] ?? 0) + 1;
  }

  private toExchange(recorded: OperationExchange): Exchange {
    const { method, url, answer, hasWholeBodies, operation, params, prefix, at, duration } = recorded;
    const sent = { ...recorded.sent, params };
    // Browsers leave credentials out of exports; the status of the answer then shows whether there were any.
    const areCredentialsUnknown = !this.showsCredentials && operation.credentials !== false;
    return {
      ...answer,
      operation,
      method,
      path: url.pathname.slice(prefix.length) + url.search,
      sent,
      authenticated: hasCredentials({ sent, operation }) || (areCredentialsUnknown && answer.status !== 401),
      recorded: { hasWholeBodies, at, duration },
    };
  }

  private checkExchange(exchange: Exchange): void {
    this.organization_id ??= exchange.headers.get("service-organization");
    for (const one of this.byOperation.get(exchange.operation!.id)!) {
      if (one.check.observe.successes && !hasBody(exchange)) continue;
      const before = one.verdict.problemCount;
      one.verdict.exchange = exchange;
      try {
        one.checkExchange(one.verdict, exchange);
      } catch (error) {
        recordUnreadable(one.verdict, one.check, error);
      }
      if (one.verdict.problemCount > before && one.requests.length < MAX_REQUESTS_PER_CHECK)
        // Recordings of other programs mask nothing, and reports are shared.
        one.requests.push({ ...toSentRequest(exchange), path: redactText(exchange.path) });
    }
  }

  *listVerdicts(): Iterable<RecordingVerdict> {
    for (const { verdict } of this.runningChecks) yield verdict;
  }

  /** The checks that found something to check. */
  listReports(): CheckReport[] {
    return this.runningChecks.filter(({ verdict }) => verdict.outcome !== "not-observable").map(toReport);
  }
}

/** The checks of single answers of a live run, and the checks of every operation. */
function createRecordedChecks(contract: Contract): RecordedCheck[] {
  const observationChecks = listChecks(contract, { write: true }).filter(
    (check): check is Check & RecordedCheck => check.observe !== undefined,
  );
  return [...createOperationChecks(contract), ...createOverTimeChecks(contract), ...observationChecks];
}

function hasBody(exchange: Exchange): boolean {
  return exchange.recorded!.hasWholeBodies && hasSucceeded(exchange) && exchange.status !== 204;
}

function toReport({ check, verdict, requests }: RunningCheck): CheckReport {
  const { unlistedCount } = verdict;
  if (unlistedCount > 0) verdict.notes.push(`${unlistedCount} problems of further kinds`);
  return toCheckReport(check, verdict, {
    redact: (text) => redactText(verdict.addCount(text)),
    durationMs: 0,
    requests,
  });
}
