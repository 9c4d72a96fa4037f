import type { AnyOperation } from "../contract/operation.ts";
import type { Verdict } from "../sandbox/fault-injector.ts";
import type { ArmedRule } from "./armed-rule.ts";

export type Phase = "before" | "after";

export const UNTOUCHED: Verdict = { injection: undefined, reasons: [] };

/** The rules of one operation and phase, in their order of precedence. */
export class Bucket {
  readonly all: readonly ArmedRule[];
  /** The verdict for a request of none of the callers that the rules name. */
  readonly foreign: Verdict;
  private readonly byPrincipal = new Map<string, readonly ArmedRule[]>();
  private readonly others: readonly ArmedRule[];

  constructor(all: readonly ArmedRule[]) {
    this.all = all;
    this.others = all.filter(({ rule }) => rule.principal === undefined);
    const named = all.find(({ rule }) => rule.principal !== undefined);
    this.foreign =
      named === undefined
        ? UNTOUCHED
        : { injection: undefined, reasons: named.missed(`principal is not ${named.rule.principal}`) };
    for (const { rule } of all) {
      if (rule.principal === undefined || this.byPrincipal.has(rule.principal)) continue;
      const own = all.filter(
        (one) => one.rule.principal === undefined || one.rule.principal === rule.principal,
      );
      this.byPrincipal.set(rule.principal, own);
    }
  }

  /** Those that may concern this caller. */
  of(user_id: string | undefined): readonly ArmedRule[] {
    return (user_id === undefined ? undefined : this.byPrincipal.get(user_id)) ?? this.others;
  }
}

/**
 * Rules by operation and phase, then by the caller they name, so that a thousand armed rules cost a request
 * no more than the few that can concern it. Made when an operation is first asked for after a change.
 */
export class RuleIndex {
  private readonly rules: readonly ArmedRule[];
  private readonly buckets: Record<Phase, Map<AnyOperation, Bucket>> = {
    before: new Map(),
    after: new Map(),
  };

  /** In order of precedence. */
  constructor(rules: readonly ArmedRule[]) {
    this.rules = rules.filter((rule) => !rule.spent);
  }

  get size(): number {
    return this.rules.length;
  }

  of(operation: AnyOperation, phase: Phase): Bucket {
    const known = this.buckets[phase].get(operation);
    if (known !== undefined) return known;
    const bucket = new Bucket(
      this.rules.filter(({ rule }) => rule.phase === phase && rule.operations?.has(operation) === true),
    );
    this.buckets[phase].set(operation, bucket);
    return bucket;
  }

  hasRequestRules(): boolean {
    return this.rules.some(({ rule }) => rule.operations !== undefined);
  }

  deliveries(): readonly ArmedRule[] {
    return this.rules.filter(({ rule }) => rule.operations === undefined);
  }
}
