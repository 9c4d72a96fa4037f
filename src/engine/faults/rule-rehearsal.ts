import type { AnyOperation } from "../contract/operation.ts";
import type { FaultFacts, FaultGate, Verdict } from "../sandbox/fault-gate.ts";
import { type RequestFaultParts, RequestFaults, type RulesInForce } from "./request-faults.ts";
import type { ArmedRule } from "./rules/armed-rule.ts";
import { operationsOf } from "./rules/match.ts";
import { isOff } from "./rules/rule.ts";
import { RuleIndex } from "./rules/rule-index.ts";

/** What one rule would do to a request, and why (interfaces 11). */
export interface RuleWord {
  /** `<scenario | inline>/<rule id>`. */
  rule: string;
  phase: "before" | "after";
  strikes: boolean;
  why: string;
}

/** The rules of a sandbox asked as if a request had come: copies count, and nobody else notices. */
export class RuleRehearsal implements RulesInForce, Pick<FaultGate, "before" | "after"> {
  readonly seed: number;
  readonly index: RuleIndex;
  private readonly rules: readonly ArmedRule[];
  private readonly requests: RequestFaults;
  private readonly words = new Map<ArmedRule, Pick<RuleWord, "strikes" | "why">>();
  private facts: FaultFacts | undefined;
  private isAfterwards = false;

  /** @param rules in order of precedence */
  constructor(parts: RequestFaultParts, { rules, seed }: { rules: readonly ArmedRule[]; seed: number }) {
    this.seed = seed;
    this.rules = rules.map((rule) => rule.copy());
    this.index = new RuleIndex(this.rules);
    this.requests = new RequestFaults(parts, this);
  }

  asked(): void {}

  heard(rule: ArmedRule, strikes: boolean, why: string): void {
    this.words.set(rule, { strikes, why });
  }

  before(facts: FaultFacts): Verdict | Promise<Verdict> {
    this.facts = facts;
    return this.requests.before(facts);
  }

  after(facts: FaultFacts): Verdict | Promise<Verdict> {
    this.isAfterwards = true;
    return this.requests.after(facts);
  }

  /** Of every rule in force, in order of precedence, once the request is through. */
  told(): RuleWord[] {
    return this.rules.map((armed) => {
      const { strikes, why } = this.words.get(armed) ?? { strikes: false, why: this.unheard(armed) };
      return { rule: armed.key, phase: armed.rule.phase, strikes, why };
    });
  }

  /** Why a rule was not even come to. */
  private unheard(armed: ArmedRule): string {
    const { rule } = armed;
    if (rule.operations === undefined) return "it is about deliveries of events, not about requests";
    if (armed.spent) return whySpent(armed);
    if (this.facts === undefined) return "the request reaches no operation";
    const { operation, principal, headers } = this.facts;
    if (!rule.operations.has(operation)) return whyNot(armed, operation);
    if (rule.principal !== undefined && rule.principal !== principal?.user_id)
      return `principal is not ${rule.principal}`;
    if (headers["x-sandbox-fault"] !== undefined)
      return "a fault that the request asks for itself goes first";
    if (rule.phase === "after" && !this.isAfterwards)
      return "it strikes after the change, which the request does not come to";
    return "what goes before it has decided, or has said the delay";
  }
}

function whySpent({ rule, progress: { expired, hits } }: ArmedRule): string {
  if (isOff(rule)) return "its probability is 0";
  if (expired) return "its lease has ended";
  return `it is spent: it struck ${hits === 1 ? "once" : `${hits} times`}`;
}

function whyNot({ rule: { document, effect } }: ArmedRule, operation: AnyOperation): string {
  const isMeant = operationsOf(document.match ?? {}, [operation]).length > 0;
  if (isMeant && effect.answer?.kind === "code")
    return `${operation.id} never answers ${effect.answer.code}; ${effect.answer.code}! forces it`;
  const { method } = document.match ?? {};
  if (method !== undefined && method !== operation.method) return `method is not ${method}`;
  return `its match does not fit ${operation.id}`;
}
