import { Random } from "../state/random.ts";
import { drawDelay } from "./effects/delay.ts";
import type { AnswerPlan } from "./effects/effect.ts";
import { isOff, type Rule } from "./rule.ts";

/** How far a rule has come in one sandbox; plain JSON. */
export interface Progress {
  /** Calls that matched it and that no rule before it had answered. */
  calls: number;
  hits: number;
  /** By operation or event, for what is drawn: other traffic must not change a draw (interfaces 6). */
  counted: Record<string, number>;
  /** Milliseconds since 1970 on the sandbox's clock at which its lease ends. */
  due: number | undefined;
  /** The lease has ended by time. */
  expired: boolean;
}

/** The schedule's decision on one call. */
export interface Decision {
  strikes: boolean;
  /** Of a sequence: what its entry answers. */
  entry: AnswerPlan | undefined;
  /** For the journal. */
  why: string;
  delay_ms: number;
}

/** A rule in force in one sandbox. */
export class ArmedRule {
  readonly rule: Rule;
  /** The scenario's name, or `inline`. */
  readonly source: string;
  readonly key: string;
  /** Made once, since a request that nothing strikes must cost nothing. */
  private readonly misses = new Map<string, readonly string[]>();
  progress: Progress;

  constructor(rule: Rule, source: string, progress: Progress = newProgress()) {
    this.rule = rule;
    this.source = source;
    this.key = `${source}/${rule.id}`;
    this.progress = progress;
  }

  get spent(): boolean {
    const { progress, rule } = this;
    if (progress.expired || isOff(rule)) return true;
    if (rule.lease.hits !== undefined && progress.hits >= rule.lease.hits) return true;
    const { schedule } = rule;
    if (schedule.kind === "times") return progress.hits >= schedule.times;
    return schedule.kind === "sequence" && progress.calls >= schedule.entries.length;
  }

  /** Whether it neither answers nor breaks the connection. */
  get onlyDelays(): boolean {
    const { effect, schedule } = this.rule;
    return effect.answer === undefined && effect.wire === undefined && schedule.kind !== "sequence";
  }

  /** Counts a call that matched, of this operation or event, and says whether it is struck. */
  decide(seed: number, subject: string, passes: (entry: AnswerPlan | undefined) => boolean): Decision {
    const { rule, progress } = this;
    progress.calls += 1;
    const drawn =
      rule.schedule.kind === "probability" || (rule.effect.delay && "p50_ms" in rule.effect.delay);
    if (drawn) progress.counted[subject] = (progress.counted[subject] ?? 0) + 1;
    const number = progress.counted[subject] ?? progress.calls;
    const random = (label: string) => new Random(seed, "fault", this.key, subject, number, label);
    const verdict = this.scheduled(() => random("strike").float());
    const strikes = verdict.strikes && !passes(verdict.entry);
    if (!strikes) return { ...verdict, strikes, delay_ms: 0 };
    progress.hits += 1;
    const delay_ms =
      rule.effect.delay === undefined ? 0 : drawDelay(rule.effect.delay, () => random("delay"));
    return { ...verdict, strikes, delay_ms };
  }

  /** A copy with the same progress, for evaluations that must not count. */
  copy(): ArmedRule {
    return new ArmedRule(this.rule, this.source, structuredClone(this.progress));
  }

  /** The one reason of a request that came near this rule. */
  missed(why: string): readonly string[] {
    let reasons = this.misses.get(why);
    if (reasons === undefined) {
      reasons = [`nearest rule ${this.key} did not match: ${why}`];
      this.misses.set(why, reasons);
    }
    return reasons;
  }

  private scheduled(draw: () => number): Pick<Decision, "strikes" | "entry" | "why"> {
    const { schedule } = this.rule;
    const { calls, hits } = this.progress;
    switch (schedule.kind) {
      case "always":
        return { strikes: true, entry: undefined, why: "it strikes every call" };
      case "times":
        return { strikes: true, entry: undefined, why: `hit ${hits + 1} of ${schedule.times}` };
      case "every": {
        const strikes = calls % schedule.every === 0;
        return { strikes, entry: undefined, why: `call ${calls}, every ${schedule.every} struck` };
      }
      case "probability": {
        const drawn = draw();
        const strikes = drawn < schedule.probability;
        const relation = strikes ? "is below" : "is not below";
        return {
          strikes,
          entry: undefined,
          why: `draw ${drawn.toFixed(4)} ${relation} ${schedule.probability}`,
        };
      }
      case "sequence": {
        const entry = schedule.entries[calls - 1];
        const why = `entry ${calls} of ${schedule.entries.length}: ${schedule.words[calls - 1]}`;
        return { strikes: entry !== undefined, entry, why };
      }
    }
  }
}

export function newProgress(): Progress {
  return { calls: 0, hits: 0, counted: {}, due: undefined, expired: false };
}
