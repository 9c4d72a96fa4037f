import { toUtf8 } from "../bytes.ts";
import { ApiError, OwnOperationError } from "../contract/errors.ts";
import type { FaultInjector } from "../sandbox/fault-types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { toAnswer } from "./answer.ts";
import { addRefusalReason } from "./engine.ts";
import type { EngineParts } from "./engine-parts.ts";
import { Exchange, Undecidable } from "./exchange.ts";
import { EarlyResponse } from "./inject-fault.ts";
import type { Site } from "./plain-http.ts";
import { runSteps } from "./run-steps.ts";
import { REQUEST_STEPS } from "./steps.ts";

/** The steps of a request, in their order (interfaces.md 11). */
const STEP_NAMES = [
  "route",
  "fault",
  "auth",
  "rate-limit",
  "validation",
  "access",
  "spending",
  "rule",
  "fault-after",
] as const;
type StepName = (typeof STEP_NAMES)[number];

export interface DryRunRequest {
  method: string;
  /** Without sandbox prefix and query. */
  path: string;
  /** Without its question mark. */
  query: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Empty for none. */
  body: string;
  /** Why the path is not complete; the steps that depend on it are then skipped. */
  incompleteReason: string | undefined;
}

interface StepReport {
  step: StepName;
  /** `decides` ends the request; `skipped`: it depends on a value that a dry run lacks. */
  outcome: "passes" | "decides" | "skipped" | "not reached";
  says: string;
}

/**
 * Runs the steps of a request without effect: changes are made in a transaction that is discarded, rules count in
 * copies, rate windows are only read, and the journal and request numbers do not change. Faults do not wait. The result
 * is the part of `Explanation` (control API) without the rules.
 */
export async function dryRun(
  engine: EngineParts,
  {
    sandbox,
    faults,
    site,
  }: { sandbox: Sandbox; faults: Pick<FaultInjector, "before" | "after">; site: Site },
  { method, path, query, headers, body, incompleteReason }: DryRunRequest,
) {
  sandbox.world.catchUp();
  const reports = new Map<string, Omit<StepReport, "step">>();
  const request = {
    method,
    target: query === "" ? path : `${path}?${query}`,
    headers,
    rawHeaders: [],
    body: [toUtf8(body)].values() as never,
    signal: new AbortController().signal,
    site,
  };
  const address = { sandbox: sandbox.name, path, query, hasPrefix: false };
  const exchange: Exchange = new Exchange(
    engine,
    { sandbox, request, address },
    {
      faults,
      incompleteReason,
      onStepPassed: (step) =>
        reports.set(step, { outcome: "passes", says: describePassedStep(step as StepName, exchange) }),
    },
  );
  // The constructor took this number; the next request gets it again.
  sandbox.world.requests = exchange.number;
  const status = await runToEnd(exchange, reports);
  return {
    operation: exchange.operation?.id ?? null,
    decision: exchange.decision === "" ? null : exchange.decision,
    status,
    code: exchange.code,
    principal: exchange.identity?.principal.user_id ?? null,
    steps: STEP_NAMES.map(
      (step): StepReport => ({
        step,
        ...(reports.get(step) ?? { outcome: "not reached", says: "" }),
      }),
    ),
  };
}

/** @returns the status; 0 if a wire fault hides it, null if it cannot be known @throws a defect of ours */
async function runToEnd(
  exchange: Exchange,
  reports: Map<string, Omit<StepReport, "step">>,
): Promise<number | null> {
  const report = (outcome: StepReport["outcome"], says: string) =>
    reports.set(exchange.step, { outcome, says });
  try {
    await runSteps(REQUEST_STEPS, exchange);
    exchange.decision ||= exchange.delayed_by ?? exchange.answer!.decision ?? "ok";
    return exchange.answer!.status;
  } catch (error) {
    if (error instanceof Undecidable) {
      report("skipped", error.message);
      return null;
    }
    if (error instanceof EarlyResponse) {
      exchange.decision = error.decision;
      const isLimit = error.decision === "limit";
      report("decides", isLimit ? "the sandbox would grow beyond its limits" : listReasons(exchange));
      if (error.wire === undefined || error.wire.fault.shows_status) return error.answer.status;
      exchange.code = null;
      return 0;
    }
    if (error instanceof OwnOperationError) {
      exchange.decision = "internal";
      const { code, status } = new ApiError("INTERNAL_ERROR");
      exchange.code = code;
      report("decides", error.message);
      return status;
    }
    if (!(error instanceof ApiError)) throw error;
    exchange.decision = exchange.step;
    exchange.code = error.code;
    await addRefusalReason(exchange, error);
    report("decides", exchange.reasons.at(-1)!);
    return error.status;
  }
}

const listReasons = ({ verdict }: Exchange) => verdict?.reasons.join("; ") ?? "";

function describePassedStep(step: StepName, exchange: Exchange): string {
  const { identity, call, rate, warnings } = exchange;
  const operation = exchange.operation;
  switch (step) {
    case "route":
      return operation === undefined
        ? "no operation has the path; only rules can answer"
        : `${operation.method} ${operation.path} is ${operation.id}`;
    case "fault":
      return describeFaults(
        exchange,
        operation ? "no rule triggers before the operation runs" : "no rule answers the path",
      );
    case "auth": {
      const isCredentialInBody = call !== undefined && operation?.identify !== undefined;
      if (operation?.credentials === false && !isCredentialInBody)
        return "the operation asks for no credential in a header";
      const { user_id, key_id } = identity!.principal;
      return `${user_id} calls, with ${key_id}${isCredentialInBody ? ", as the body says" : ""}`;
    }
    case "rate-limit":
      if (rate !== undefined) return `${rate.remaining} of ${rate.limit} requests of this minute are left`;
      return operation?.identify === undefined
        ? "requests of this operation are not counted"
        : "nothing is counted for this operation before its body is read";
    case "validation":
      return warnings.length === 0 ? "path, query and body are well-formed" : warnings.join("; ");
    case "access":
      return operation!.access
        ? "the resources exist, and the caller has access"
        : "the operation has no other conditions";
    case "spending":
      return operation!.billable ? "no spending limit is reached" : "the operation costs nothing";
    case "rule": {
      const effects = operation!.finish ? ", and then waits for its effects" : "";
      return `the operation answers ${exchange.answer?.status ?? toAnswer(operation!, exchange.value).status}${effects}`;
    }
    case "fault-after":
      return describeFaults(exchange, "no rule triggers after the operation runs");
  }
}

function describeFaults(exchange: Exchange, fallback: string): string {
  const reasons = listReasons(exchange);
  if (exchange.verdict?.injection !== undefined) return `${reasons}; the request only waits`;
  return reasons === "" ? fallback : reasons;
}
