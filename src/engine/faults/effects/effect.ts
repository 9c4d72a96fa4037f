import type { TSchema } from "typebox";
import type { ErrorCode } from "../../contract/errors.ts";
import type { WireFault } from "../../sandbox/fault-types.ts";

/** The keys of all effects in a rule; the effects check the combinations. */
export interface EffectDocument<Wire extends string = string> {
  error?: string;
  details?: Record<string, unknown>;
  status?: number;
  body?: unknown;
  headers?: Record<string, string | number>;
  delay?: string | number | { p50: string | number; p99: string | number };
  hold?: true | { timeout?: string | number };
  wire?: Wire;
  over?: string | number;
}

/** The effect of a rule, read from its document once. */
export interface EffectPlan {
  answer?: AnswerPlan;
  delay?: DelayPlan;
  /** `timeout_ms`: wall milliseconds after which the request or delivery is released by itself. */
  hold?: { timeout_ms: number };
  /** `over_ms`: wall milliseconds that the answer takes, for effects that slow it down. */
  wire?: { effect: WireEffect; over_ms: number };
}

export type AnswerPlan =
  | {
      kind: "code";
      code: ErrorCode;
      /** Written as `CODE!`: allowed even if the operation never answers this code. */
      forced: boolean;
      details: Readonly<Record<string, unknown>>;
      headers: Readonly<Record<string, string>>;
    }
  | { kind: "status"; status: number; headers: Readonly<Record<string, string>>; body: unknown };

/** Wall milliseconds: always the same, or drawn from a log-normal distribution with these percentiles. */
export type DelayPlan = { fixed_ms: number } | { p50_ms: number; p99_ms: number };

/** The messages that a rule hits: those of the API, or those to webhooks. */
export type RuleTarget = "requests" | "deliveries";

/** Reports a problem that no schema can express; `path` begins below `effect`. */
export type ReportEffect = (
  path: readonly (string | number)[],
  message: string,
  hint?: string | undefined,
) => void;

/**
 * One kind of effect. Each has a file of its own and a line in effects/index.ts. `keys` are its keys below `effect:`, and
 * `read` returns its part of the plan.
 */
export interface Effect {
  keys: Readonly<Record<string, TSchema>>;
  check?: (effect: EffectDocument, report: ReportEffect, target: RuleTarget) => void;
  read: (effect: EffectDocument) => EffectPlan;
}

/**
 * One kind of wire fault, which a value of `wire:` names. Each has a file of its own and a line in effects/index.ts. It
 * defines the effect on a connection (`perform`) and on a delivery attempt (`delivery`).
 */
export interface WireEffect extends WireFault {
  keys?: Readonly<Record<string, TSchema>>;
  check?: Effect["check"];
  readonly delivery: DeliveryEffect;
}

/** A wire fault of a delivery attempt, as if the receiver had caused it. */
interface DeliveryEffect {
  /** Wall milliseconds by which the attempt is delayed; infinite: until the webhook's timeout. */
  getDelay: (over_ms: number) => number;
  /**
   * Why the attempt gets no answer, in words; then the receiver is not called. Undefined: the attempt gets its answer.
   */
  failure: string | undefined;
}
