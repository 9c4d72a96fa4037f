import { Type } from "typebox";
import { parseDuration } from "../../contract/duration.ts";
import { Duration } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import type { DelayPlan, Effect, EffectDocument, ReportEffect } from "./effect.ts";

/** One hour: longer than any client waits. */
const MAX_DELAY_MS = 3_600_000;

interface DurationProblem {
  message: string;
  hint?: string | undefined;
}

/** Describes the problem of a fault's delay; undefined if there is none. */
export function findDelayProblem(value: unknown): DurationProblem | undefined {
  const duration = parseDuration(value);
  if (duration === undefined) return findDurationProblem(value);
  return duration > MAX_DELAY_MS ? { message: "may be at most 1h" } : undefined;
}

/** Reports what is wrong with a delay; returns true if it is valid or not given. */
export function checkDelay(value: unknown, path: readonly string[], report: ReportEffect): boolean {
  const problem = value === undefined ? undefined : findDelayProblem(value);
  if (problem !== undefined) report(path, problem.message, problem.hint);
  return problem === undefined;
}

/** Like `findDelayProblem`, for a duration of any length. */
export function findDurationProblem(value: unknown): DurationProblem | undefined {
  if (parseDuration(value) !== undefined) return undefined;
  const hint = typeof value === "string" ? suggestDuration(value) : undefined;
  const message = `must be a duration such as 200ms, 5s, 10m, 6h, PT5M or milliseconds, not ${JSON.stringify(value)}`;
  return { message, hint };
}

/** Like `findDurationProblem`, for a duration that must not be 0, such as that of a lease. */
export function findPeriodProblem(value: unknown): DurationProblem | undefined {
  return parseDuration(value) === 0 ? { message: "must be more than 0" } : findDurationProblem(value);
}

/** Suggests `5m` for `5 minuets`, and nothing for `5 months`: the same number, with the unit of the same first letter. */
function suggestDuration(text: string): string | undefined {
  const parts = /^\s*(\d{1,9}(?:\.\d{1,6})?)\s*((?!mo|mic)[a-z]{1,20})\s*$/i.exec(text);
  if (parts === null) return undefined;
  const unit = parts[2]!.toLowerCase();
  const shortUnit = /^m(s|il)/.test(unit) ? "ms" : unit[0];
  const hint = `${parts[1]}${shortUnit}`;
  return parseDuration(hint) === undefined ? undefined : hint;
}

export const DelaySchema = Type.Unsafe<NonNullable<EffectDocument["delay"]>>({
  anyOf: [
    Duration(),
    {
      type: "object",
      properties: { p50: Duration(), p99: Duration() },
      required: ["p50", "p99"],
      additionalProperties: false,
    },
  ],
});

/** The message waits in real time, also in a frozen sandbox (interfaces.md 3). */
export const delayEffect: Effect = {
  keys: { delay: DelaySchema },
  check({ delay }, report) {
    if (typeof delay !== "object") {
      checkDelay(delay, ["delay"], report);
      return;
    }
    const isP50Valid = checkDelay(delay.p50, ["delay", "p50"], report);
    const isP99Valid = checkDelay(delay.p99, ["delay", "p99"], report);
    if (isP50Valid && isP99Valid && parseDuration(delay.p99)! < parseDuration(delay.p50)!)
      report(["delay", "p99"], "must not be below p50");
  },
  read({ delay }) {
    if (delay === undefined) return {};
    if (typeof delay !== "object") return { delay: { fixed_ms: parseDuration(delay)! } };
    return { delay: { p50_ms: parseDuration(delay.p50)!, p99_ms: parseDuration(delay.p99)! } };
  },
};

/** The 99th percentile of the standard normal distribution. */
const Z99 = 2.3263478740408408;

/** Milliseconds; latencies have a long tail, so the two percentiles fix a log-normal distribution. */
export function drawDelay(plan: DelayPlan, random: () => Random): number {
  if ("fixed_ms" in plan) return plan.fixed_ms;
  const median = Math.max(1, plan.p50_ms);
  const sigma = Math.log(Math.max(median, plan.p99_ms) / median) / Z99;
  const delay_ms = median * Math.exp(sigma * drawStandardNormal(random()));
  return Math.min(MAX_DELAY_MS, Math.round(delay_ms));
}

/** The Box-Muller transform of two uniform draws. */
function drawStandardNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.float()));
  return radius * Math.cos(2 * Math.PI * random.float());
}
