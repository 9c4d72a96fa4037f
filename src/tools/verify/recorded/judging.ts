import { redactText } from "../../har/secret-redactor.ts";
import type { Check } from "../check.ts";
import { checksFor } from "../checks/index.ts";
import type { Contract } from "../contract.ts";
import { succeeded } from "../judge-success.ts";
import type { CheckReport, RecordedReport, SentRequest } from "../report.ts";
import { sentRequest } from "../run-verify.ts";
import type { Exchange } from "../target.ts";
import { askedFor } from "./asked-for.ts";
import { type OperationExchange, OTHER_HOST, type Seeing, UNKNOWN_PATH } from "./each-exchange.ts";
import { everyOperation, hasCredentials, type Recorded } from "./every-operation.ts";
import { RecordedVerdict } from "./recorded-verdict.ts";

/** Requests that a check tells of; more are counted. */
const MAX_REQUESTS = 20;

interface Running {
  check: Recorded;
  judge: ReturnType<Recorded["observe"]["begin"]>;
  verdict: RecordedVerdict;
  requests: SentRequest[];
}

/** Judges one recorded exchange after the other, and holds none of them. */
export class Judging implements Seeing {
  organization_id: string | null = null;
  readonly counts: Omit<RecordedReport, "file" | "creator" | "entries">;
  private readonly running: readonly Running[];
  private readonly byOperation = new Map<string, Running[]>();
  private readonly complete: boolean;

  constructor(contract: Contract, { complete }: { complete: boolean }) {
    this.complete = complete;
    this.counts = { judged: 0, other_hosts: 0, unknown_paths: 0, not_judged: {}, operations: [] };
    this.running = recordedChecks(contract).map((check) => ({
      check,
      judge: check.observe.begin(),
      verdict: new RecordedVerdict(),
      requests: [],
    }));
    for (const { id } of contract.operations) {
      const own = this.running.filter(({ check: { observe } }) => (observe.operation ?? id) === id);
      this.byOperation.set(id, own);
    }
  }

  exchange(seen: OperationExchange): void {
    const { counts } = this;
    counts.judged += 1;
    if (!counts.operations.includes(seen.operation.id)) counts.operations.push(seen.operation.id);
    this.judge(this.exchangeOf(seen));
  }

  left(reason: string): void {
    const { counts } = this;
    if (reason === OTHER_HOST) counts.other_hosts += 1;
    else if (reason === UNKNOWN_PATH) counts.unknown_paths += 1;
    else counts.not_judged[reason] = (counts.not_judged[reason] ?? 0) + 1;
  }

  private exchangeOf(seen: OperationExchange): Exchange {
    const { method, url, asked, answer, whole, operation, params, prefix } = seen;
    const sent = { ...asked, params };
    // Browsers leave credentials out of what they export; then an answer says whether there were any.
    const unknown = !this.complete && operation.credentials !== false;
    return {
      ...answer,
      ...{ operation, method, path: url.pathname.slice(prefix.length) + url.search, asked: sent },
      authenticated: hasCredentials({ asked: sent }) || (unknown && answer.status !== 401),
      recorded: { whole },
    };
  }

  private judge(exchange: Exchange): void {
    this.organization_id ??= exchange.headers.get("service-organization");
    for (const one of this.byOperation.get(exchange.operation!.id)!) {
      if (one.check.observe.successes && !hasBody(exchange)) continue;
      const before = one.verdict.found;
      one.verdict.about(exchange);
      try {
        one.judge(one.verdict, exchange);
      } catch (error) {
        // Most likely an answer of another shape, which its own check judges; it must not pass either way.
        const gap = one.check.section.startsWith("G") ? one.check.section : undefined;
        one.verdict.expect(false, `an answer could not be read: ${(error as Error).message}`, gap);
      }
      if (one.verdict.found > before && one.requests.length < MAX_REQUESTS)
        one.requests.push(shownRequest(exchange));
    }
  }

  *verdicts(): Iterable<RecordedVerdict> {
    for (const { verdict } of this.running) yield verdict;
  }

  /** Of the checks that had something to judge. */
  reports(): CheckReport[] {
    return this.running.filter(({ verdict }) => verdict.outcome !== "not-observable").map(reportOf);
  }
}

/** What the live run says of answers by themselves, and what is asked of every operation. */
function recordedChecks(contract: Contract): Recorded[] {
  const observing = checksFor(contract, true).filter(
    (check): check is Check & Recorded => check.observe !== undefined,
  );
  return [...everyOperation(contract), ...askedFor, ...observing];
}

/** Whether there is a success's body to look into. */
function hasBody(exchange: Exchange): boolean {
  return exchange.recorded!.whole && succeeded(exchange) && exchange.status !== 204;
}

/** Others' recordings mask nothing; a report is passed around. */
function shownRequest(exchange: Exchange): SentRequest {
  return { ...sentRequest(exchange), path: redactText(exchange.path) };
}

function reportOf({ check, verdict, requests }: Running): CheckReport {
  const { id, family, section, title } = check;
  const { untold } = verdict;
  return {
    ...{ id, family, section, title },
    outcome: verdict.outcome,
    failures: verdict.failures.map((text) => redactText(verdict.times(text))),
    differences: verdict.differences.map(({ assumption, detail }) => ({
      assumption,
      detail: redactText(verdict.times(detail)),
    })),
    not_observed: verdict.notObserved,
    notes: [...verdict.notes, ...(untold > 0 ? [`${untold} problems of further kinds`] : [])],
    duration_ms: 0,
    requests,
  };
}
