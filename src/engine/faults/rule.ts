import { parseDuration } from "../contract/duration.ts";
import type { AnyOperation } from "../contract/operation.ts";
import { glob } from "../documents/glob.ts";
import { Random } from "../state/random.ts";
import { drawDelay } from "./effects/delay.ts";
import type { AnswerPlan, EffectPlan } from "./effects/effect.ts";
import { listDocumentedCodes } from "./effects/error.ts";
import { readEffect } from "./effects/index.ts";
import type { Leased } from "./leases.ts";
import {
  type Criterion,
  findServedKind,
  isDeliveryMatch,
  listMatchingOperations,
  NOT_ADMITTED,
  reachesUndeclared,
  toCriteria,
  UNDECLARED_OPERATION,
} from "./match.ts";
import { type RuleDocument, toEntryEffect } from "./rule-document.ts";

/** When a matching rule is triggered; a sequence's `undefined` is `pass`. */
type Schedule =
  | { kind: "always" }
  | { kind: "times"; times: number }
  | { kind: "every"; every: number }
  | { kind: "probability"; probability: number }
  | { kind: "sequence"; entries: readonly (AnswerPlan | undefined)[]; words: readonly string[] };

/** A checked rule, read once and shared by all sandboxes in which it is armed. */
export interface Rule {
  id: string;
  /** The rule as it was written. */
  document: RuleDocument;
  phase: "before" | "after";
  schedule: Schedule;
  effect: EffectPlan;
  lease: { ttl_ms: number | undefined; hits: number | undefined };
  /** The ids of the operations that it can hit. Undefined: a rule about deliveries. */
  operations: ReadonlySet<string> | undefined;
  principal: string | undefined;
  criteria: readonly Criterion[];
  /** The part that the body must contain; undefined: any body. */
  body: object | undefined;
  delivers: (event: string, webhook_id: string) => boolean;
}

/** A rule that can never trigger is off; it costs a request nothing (interfaces 6: probability 0). */
export function canNeverTrigger({ schedule }: Rule): boolean {
  return schedule.kind === "probability" && schedule.probability === 0;
}

/** Reads a rule that `checkRule` found nothing wrong with. */
export function readRule(document: RuleDocument, id: string, all: readonly AnyOperation[]): Rule {
  const { match = {}, effect: written = {}, lease = {}, phase = "before" } = document;
  const effect = readEffect(written);
  const delivery = isDeliveryMatch(match);
  const asksForCaller = findServedKind(document) === "content" && !document.public;
  return {
    id,
    document,
    phase,
    schedule: toSchedule(document),
    effect,
    lease: { ttl_ms: lease.ttl === undefined ? undefined : parseDuration(lease.ttl)!, hits: lease.hits },
    operations: delivery
      ? undefined
      : new Set([
          ...listMatchingOperations(match, all).flatMap((one) => (answers(one, effect.answer) ? one.id : [])),
          ...(reachesUndeclared(document, all) ? [UNDECLARED_OPERATION.id] : []),
        ]),
    principal: match.principal,
    criteria: delivery ? [] : [...toCriteria(match), ...(asksForCaller ? [NOT_ADMITTED] : [])],
    body: match.body,
    delivers: delivery ? matchDeliveries(match.event, match.webhook) : () => false,
  };
}

/** interfaces 6: if the operation never answers the code, the rule does not apply, unless it is forced. */
export function answers(operation: AnyOperation, answer: AnswerPlan | undefined): boolean {
  if (answer?.kind !== "code" || answer.forced || operation === UNDECLARED_OPERATION) return true;
  return listDocumentedCodes(operation).has(answer.code);
}

function toSchedule({ sequence, times, every, probability }: RuleDocument): Schedule {
  if (times !== undefined) return { kind: "times", times };
  if (every !== undefined) return { kind: "every", every };
  if (probability !== undefined) return { kind: "probability", probability };
  if (sequence === undefined) return { kind: "always" };
  const entries = sequence.map((entry) => readEffect(toEntryEffect(entry) ?? {}).answer);
  const words = sequence.map((entry) =>
    String(typeof entry === "object" ? (entry.error ?? entry.status ?? 200) : entry),
  );
  return { kind: "sequence", words, entries };
}

function matchDeliveries(event: string | undefined, webhook: string | undefined): Rule["delivers"] {
  const fits = event === undefined ? () => true : glob(event);
  return (name, id) => fits(name) && (webhook === undefined || webhook === id);
}

/** The progress of a rule in one sandbox; plain JSON. */
interface Progress {
  /** Calls that matched it, without those that an earlier rule answered. */
  calls: number;
  hits: number;
  /** By operation or event, for random draws: other traffic must not change a draw (interfaces 6). */
  counted: Record<string, number>;
  /** Milliseconds since 1970 on the sandbox's clock at which its lease ends. */
  due: number | undefined;
  /** Whether the lease has ended by time. */
  expired: boolean;
}

/** The schedule's decision on one call. */
export interface Decision {
  triggers: boolean;
  /** For a sequence: the answer of its entry. */
  entry: AnswerPlan | undefined;
  /** For the journal. */
  why: string;
  delay_ms: number;
}

/** An active rule in one sandbox. */
export class ArmedRule implements Leased {
  readonly rule: Rule;
  /** The scenario's name, or `inline`. */
  readonly source: string;
  readonly key: string;
  /** Made once, since a request to which no rule applies must cost nothing. */
  private readonly misses = new Map<string, readonly string[]>();
  readonly progress: Progress;

  /** @param saved the progress of another armed rule, which is copied */
  constructor(rule: Rule, source: string, saved: object = {}) {
    this.rule = rule;
    this.source = source;
    this.key = `${source}/${rule.id}`;
    const fresh = { calls: 0, hits: 0, counted: {}, due: undefined, expired: false };
    this.progress = { ...fresh, ...structuredClone(saved) };
  }

  get lease(): Leased["lease"] {
    return { subject: this.rule.id, ttl_ms: this.rule.lease.ttl_ms };
  }

  get spent(): boolean {
    const { progress, rule } = this;
    if (progress.expired || canNeverTrigger(rule)) return true;
    if (rule.lease.hits !== undefined && progress.hits >= rule.lease.hits) return true;
    const { schedule } = rule;
    if (schedule.kind === "times") return progress.hits >= schedule.times;
    return schedule.kind === "sequence" && progress.calls >= schedule.entries.length;
  }

  /** Whether it could only delay or hold what an earlier rule delays or holds already. */
  addsNothing(before: { isDelayed: boolean; isHeld: boolean }): boolean {
    const { effect, schedule } = this.rule;
    if (effect.answer !== undefined || effect.wire !== undefined || schedule.kind === "sequence")
      return false;
    const { delay, hold } = effect;
    return (delay === undefined || before.isDelayed) && (hold === undefined || before.isHeld);
  }

  /** Counts a call that matched, of this operation or event, and decides whether the rule is triggered. */
  decide(seed: number, subject: string, operation?: AnyOperation): Decision {
    const { rule, progress } = this;
    const { delay } = rule.effect;
    progress.calls += 1;
    const drawn = rule.schedule.kind === "probability" || (delay && "p50_ms" in delay);
    if (drawn) progress.counted[subject] = (progress.counted[subject] ?? 0) + 1;
    const number = progress.counted[subject] ?? progress.calls;
    const random = (label: string) => new Random(seed, "fault", this.key, subject, number, label);
    const decision = this.askSchedule(() => random("strike").float());
    const triggers = decision.triggers && (operation === undefined || answers(operation, decision.entry));
    if (!triggers) return { ...decision, triggers, delay_ms: 0 };
    progress.hits += 1;
    return { ...decision, delay_ms: delay === undefined ? 0 : drawDelay(delay, () => random("delay")) };
  }

  /** The first condition that the request does not meet. */
  missed(why: string): readonly string[] {
    let reasons = this.misses.get(why);
    if (reasons === undefined) {
      reasons = [`nearest rule ${this.key} did not match: ${why}`];
      this.misses.set(why, reasons);
    }
    return reasons;
  }

  private askSchedule(draw: () => number): Omit<Decision, "delay_ms"> {
    const { schedule } = this.rule;
    const { calls, hits } = this.progress;
    switch (schedule.kind) {
      case "always":
        return { triggers: true, entry: undefined, why: "it triggers on every call" };
      case "times":
        return { triggers: true, entry: undefined, why: `hit ${hits + 1} of ${schedule.times}` };
      case "every": {
        const triggers = calls % schedule.every === 0;
        return { triggers, entry: undefined, why: `call ${calls}, triggers on every ${schedule.every}` };
      }
      case "probability": {
        const drawn = draw();
        const triggers = drawn < schedule.probability;
        const why = `draw ${drawn.toFixed(4)} is ${triggers ? "" : "not "}below ${schedule.probability}`;
        return { triggers, entry: undefined, why };
      }
      case "sequence": {
        const entry = schedule.entries[calls - 1];
        const why = `entry ${calls} of ${schedule.entries.length}: ${schedule.words[calls - 1]}`;
        return { triggers: entry !== undefined, entry, why };
      }
    }
  }
}
