import { spellCode } from "../../engine/contract/envelopes.ts";
import { CATALOGUE } from "../../engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes, listSuccesses } from "../../engine/contract/operation.ts";
import { pluralize } from "../../engine/contract/text.ts";
import { getOrAdd } from "../../engine/maps.ts";
import type { Contract } from "../verify/contract.ts";
import { type OperationExchange, visitExchanges } from "../verify/recorded/archive.ts";

/** How long the answers of one operation took, and how often each error occurred. */
interface CallStatistics {
  operation: AnyOperation;
  calls: number;
  waits: number[];
  errors: Map<string, { effect: object; times: number }>;
}

const MAX_RULE_DELAY_MS = 3_600_000;

/**
 * Returns the latency percentiles and error shares of each recorded operation as a scenario (interfaces.md 12).
 * @throws InputError; UnusableTargetError if nothing belongs to this API
 */
export async function inferScenarioFromHar(
  file: string,
  { contract, name }: { contract: Contract; name: string },
): Promise<{ name: string; description: string; rules: object[] }> {
  const statistics = new Map<string, CallStatistics>();
  const { base, entries } = await visitExchanges({ contract, file }, () => ({
    visit: (exchange) => recordCall(statistics, exchange),
  }));
  const sorted = [...statistics.values()].toSorted((a, b) => (a.operation.id < b.operation.id ? -1 : 1));
  const calls = sorted.reduce((sum, one) => sum + one.calls, 0);
  return {
    name,
    description: `How ${base} answered ${pluralize(calls, "request")} of a recording with ${pluralize(entries, "entry", "entries")}: waits until an answer began, and shares of errors.`,
    // A rule that only delays lets a later one answer.
    rules: [...sorted.flatMap(toLatencyRules), ...sorted.flatMap(toErrorRules)],
  };
}

function recordCall(
  statistics: Map<string, CallStatistics>,
  { operation, answer, wait_ms }: OperationExchange,
): void {
  const statisticsOfOperation = getOrAdd(statistics, operation.id, () => ({
    operation,
    calls: 0,
    waits: [],
    errors: new Map(),
  }));
  statisticsOfOperation.calls += 1;
  if (wait_ms !== undefined) statisticsOfOperation.waits.push(wait_ms);
  if (answer.status < 400 || listSuccesses(operation).some(({ status }) => status === answer.status)) return;
  const { key, effect } = findError(operation, answer);
  getOrAdd(statisticsOfOperation.errors, key, () => ({ effect, times: 0 })).times += 1;
}

/** A code that the operation answers, so that the rule answers as it does; else the bare status. */
function findError(operation: AnyOperation, { status, json }: OperationExchange["answer"]) {
  const recordedCode: unknown = json?.error?.code;
  const codes = listErrorCodes(operation).filter((code) => CATALOGUE[code].status === status);
  const code =
    codes.find((one) => spellCode(one, operation.envelope, operation) === recordedCode) ?? codes[0];
  if (code !== undefined) return { key: code, effect: { error: code } };
  // Clients treat a status that HTTP does not have like 5xx, as RFC 9110 advises.
  const ruleStatus = Math.min(status, 599);
  return { key: `http-${ruleStatus}`, effect: { status: ruleStatus } };
}

function toLatencyRules({ operation, waits }: CallStatistics): object[] {
  if (waits.length === 0) return [];
  const sorted = waits.toSorted((a, b) => a - b);
  /** Nearest rank. */
  const findPercentile = (percent: number) => {
    const wait = sorted[Math.ceil((percent / 100) * sorted.length) - 1]!;
    return `${Math.min(MAX_RULE_DELAY_MS, Math.round(wait))}ms`;
  };
  return [
    {
      id: `${nameRule(operation)}-latency`,
      match: { operation: operation.id },
      effect: { delay: { p50: findPercentile(50), p99: findPercentile(99) } },
    },
  ];
}

/** Rules are evaluated in order, so the probability of each refers to the calls that earlier rules leave. */
function toErrorRules({ operation, calls, errors }: CallStatistics): object[] {
  let remainingCalls = calls;
  return [...errors]
    .toSorted(([, a], [, b]) => b.times - a.times)
    .map(([key, { effect, times }]) => {
      const probability = Number((times / remainingCalls).toPrecision(4));
      remainingCalls -= times;
      return {
        id: `${nameRule(operation)}-${key.toLowerCase().replaceAll("_", "-")}`,
        match: { operation: operation.id },
        probability,
        effect,
      };
    });
}

function nameRule({ id }: AnyOperation): string {
  return id.replaceAll(/[._]/g, "-");
}
