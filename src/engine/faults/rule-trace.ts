import type { AnyOperation } from "../contract/operation.ts";
import type { FaultFacts, FaultInjector, FaultVerdict } from "../sandbox/fault-types.ts";
import { ArmedRule } from "./armed-rule.ts";
import type { ArmedRules } from "./armed-rules.ts";
import { type RequestFaultParts, RequestFaults, type RuleObserver } from "./request-faults.ts";
import { canNeverTrigger, listMatchingOperations } from "./rule.ts";

/** Evaluates copies of a sandbox's rules for a dry run, which counts nothing in the sandbox. */
export class RuleTrace implements RuleObserver, Pick<FaultInjector, "before" | "after"> {
  readonly seed: number;
  private readonly rules: readonly ArmedRule[];
  private readonly requests: RequestFaults;
  private readonly outcomes = new Map<ArmedRule, { triggers: boolean; why: string }>();
  private facts: FaultFacts | undefined;
  private isAfter = false;
  private readonly armedRules: ArmedRules;

  constructor(parts: RequestFaultParts, armedRules: ArmedRules, seed: number) {
    this.seed = seed;
    this.armedRules = armedRules;
    this.rules = armedRules.allRules.map(
      ({ rule, source, progress }) => new ArmedRule(rule, source, progress),
    );
    const unspent = this.rules.filter((rule) => !rule.isSpent && armedRules.isInForce(rule));
    this.requests = new RequestFaults(parts, this, unspent);
  }

  onCounted(): void {}

  onEvaluated(rule: ArmedRule, triggers: boolean, why: string): void {
    this.outcomes.set(rule, { triggers, why });
  }

  before(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    this.facts = facts;
    return this.requests.before(facts);
  }

  after(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    this.isAfter = true;
    return this.requests.after(facts);
  }

  /** Whether the request would trigger each rule, spent or not, and why; in order of precedence. Call it after the dry run. */
  report() {
    return this.rules.map((armed) => {
      const { triggers, why } = this.outcomes.get(armed) ?? {
        triggers: false,
        why: this.explainSkipped(armed),
      };
      return { rule: armed.key, phase: armed.rule.phase, triggers, why };
    });
  }

  private explainSkipped(armed: ArmedRule): string {
    const { rule } = armed;
    if (rule.operations === undefined) return "it matches deliveries of events, not requests";
    if (!this.armedRules.isInForce(armed)) return "its stage is not the current one";
    if (armed.isSpent) return explainSpent(armed);
    if (this.facts === undefined) return "the request reaches no operation";
    const { operation, principal, headers } = this.facts;
    if (!rule.operations.has(operation.id)) return explainMismatch(armed, operation);
    if (rule.principal !== undefined && rule.principal !== principal?.user_id)
      return `principal is not ${rule.principal}`;
    if (headers["x-sandbox-fault"] !== undefined)
      return "the request sets a fault itself, which takes precedence";
    if (rule.phase === "after" && !this.isAfter)
      return "it triggers after the change, which the request does not reach";
    // A rule with an answer is skipped only after one that answered.
    if (armed.hasAnswer) return "an earlier rule decided";
    const { delay, hold } = rule.effect;
    if (hold === undefined && headers["x-sandbox-delay"] !== undefined)
      return "the request sets its delay itself, which takes precedence";
    const waits = [...(delay ? ["set the delay"] : []), ...(hold ? ["held the request"] : [])];
    return `an earlier rule decided, or ${waits.join(" and ")}`;
  }
}

function explainSpent({ rule, progress: { expired, hits } }: ArmedRule): string {
  if (canNeverTrigger(rule)) return "its probability is 0";
  if (expired) return "its lease has ended";
  return `it is used up: it was triggered ${hits === 1 ? "once" : `${hits} times`}`;
}

function explainMismatch({ rule: { document, effect } }: ArmedRule, operation: AnyOperation): string {
  const fitsOperation = listMatchingOperations(document.match ?? {}, [operation]).length > 0;
  if (fitsOperation && effect.answer?.kind === "code")
    return `${operation.id} never answers ${effect.answer.code}; ${effect.answer.code}! forces it`;
  const { method, path } = document.match ?? {};
  if (method !== undefined && method !== operation.method) return `method is not ${method}`;
  const fitsWithoutPath =
    listMatchingOperations({ ...document.match, path: undefined }, [operation]).length > 0;
  if (path !== undefined && fitsWithoutPath) return `path does not match ${path}`;
  return `its match does not fit ${operation.id}`;
}
