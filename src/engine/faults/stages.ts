import { parseDuration } from "../contract/duration.ts";
import type { LeaseHolder } from "./armed-rule.ts";
import type { ExpectDocument, StageDocument } from "./rule-document.ts";

/** A part of a run in which some rules of a scenario are in force (interfaces.md 21). */
export interface Stage {
  readonly name: string;
  /** The ids of its rules. */
  readonly rules: ReadonlySet<string>;
  /** The stage ends after this many requests, after this time, when a request is held, or not at all. */
  readonly until: { requests?: number | undefined; time_ms?: number | undefined; held?: true | undefined };
  /** The stage as it was written. */
  readonly document: StageDocument;
  readonly expect: readonly ExpectDocument[];
}

/** The id of a stage's rule that has none of its own. */
export function toStageRuleId({ name }: Pick<StageDocument, "name">, index: number): string {
  return `${name}-${index + 1}`;
}

export function readStage(document: StageDocument): Stage {
  const { name, rules = [], until = {}, expect = [] } = document;
  const time_ms = until.time === undefined ? undefined : parseDuration(until.time)!;
  return {
    name,
    document,
    expect,
    until: { requests: until.requests, time_ms, held: until.held },
    rules: new Set(rules.map((rule, index) => rule.id ?? toStageRuleId(document, index))),
  };
}

/** Plain JSON. */
interface Progress {
  /** The stages that have begun, in order: when, in milliseconds since 1970 on the sandbox's clock, and their requests. */
  begun: { at: number; requests: number }[];
  /** When the last stage ended. */
  ended: number | undefined;
  /** When the current stage ends; `Leases` sets it. */
  due: number | undefined;
}

export interface StageReport {
  stage: Stage;
  state: "waiting" | "current" | "ended";
  began: number | undefined;
  ended: number | undefined;
  requests: number;
}

/** The stages of a scenario that is active in a sandbox. One follows the other, until the last has ended. */
export class StageProgress implements LeaseHolder {
  readonly scenario: string;
  readonly stages: readonly Stage[];
  readonly progress: Progress;
  private readonly stageRules: ReadonlySet<string>;

  /** @param saved the progress of the same scenario, which is copied */
  constructor(
    scenario: string,
    stages: readonly Stage[],
    { now, saved }: { now: number; saved: object | undefined },
  ) {
    this.scenario = scenario;
    this.stages = stages;
    this.stageRules = new Set(stages.flatMap(({ rules }) => [...rules]));
    const initial = { begun: [{ at: now, requests: 0 }], ended: undefined, due: undefined };
    this.progress = { ...initial, ...structuredClone(saved) };
    // Fewer stages are left: the scenario's file was edited between saving and restoring.
    if (this.progress.begun.length > stages.length) this.progress = initial;
  }

  /** Undefined after the last stage has ended. */
  get current(): Stage | undefined {
    const { begun, ended } = this.progress;
    return ended === undefined ? this.stages[begun.length - 1] : undefined;
  }

  /** The scenario's name; the keys of rules contain a slash, so they never clash with it. */
  get key(): string {
    return this.scenario;
  }

  get lease(): LeaseHolder["lease"] {
    const { current } = this;
    return { subject: this.qualify(current), ttl_ms: current?.until.time_ms };
  }

  /** Rules of the scenario that belong to no stage are always in force. */
  isInForce(id: string): boolean {
    return !this.stageRules.has(id) || this.current?.rules.has(id) === true;
  }

  /** Counts a request of the current stage; returns whether it was the last. */
  countRequest(): boolean {
    const { current, progress } = this;
    if (current === undefined) return false;
    const last = progress.begun.at(-1)!;
    last.requests += 1;
    return current.until.requests !== undefined && last.requests >= current.until.requests;
  }

  /** Ends the current stage at this instant; returns the timeline entry's title and subject. */
  endCurrent(at: number): { title: string; subject: string } {
    const { progress, stages, scenario } = this;
    const isLast = progress.begun.length === stages.length;
    if (isLast) progress.ended = at;
    else progress.begun.push({ at, requests: 0 });
    const title = isLast
      ? `The last stage of ${scenario} ended.`
      : `Stage “${this.current!.name}” of ${scenario} began.`;
    return { title, subject: this.qualify(this.current ?? stages.at(-1)) };
  }

  moveBy(shift_ms: number): void {
    const { progress } = this;
    for (const begun of progress.begun) begun.at += shift_ms;
    if (progress.ended !== undefined) progress.ended += shift_ms;
  }

  qualify(stage: Stage | undefined): string {
    return `${this.scenario}/${stage?.name}`;
  }
}

/** Describes stages with their progress; without it, none has begun. */
export function describeStages(
  stages: readonly Stage[],
  { begun, ended }: Pick<Progress, "begun" | "ended"> = { begun: [], ended: undefined },
): StageReport[] {
  return stages.map((stage, index) => {
    const begunStage = begun[index];
    const end = begun[index + 1]?.at ?? (index === begun.length - 1 ? ended : undefined);
    const state = begunStage === undefined ? "waiting" : end === undefined ? "current" : "ended";
    return { stage, state, began: begunStage?.at, ended: end, requests: begunStage?.requests ?? 0 };
  });
}

interface StagedScenario {
  name: string;
  stages: readonly Stage[];
}

/** The stages of a scenario as an entry of `stagesByScenario`; no entry if it has no stages. */
export function toStages(
  { name, stages }: StagedScenario,
  now: number,
  saved?: object,
): [string, StageProgress][] {
  return stages.length === 0 ? [] : [[name, new StageProgress(name, stages, { now, saved })]];
}

/** The stages of a scenario that may have been active before: they continue if all names are the same, else begin again. */
export function continueStages(
  scenario: StagedScenario,
  before: StageProgress | undefined,
  now: number,
): [string, StageProgress][] {
  if (before === undefined || !haveSameStages(before.stages, scenario.stages)) return toStages(scenario, now);
  return before.stages === scenario.stages
    ? [[scenario.name, before]]
    : toStages(scenario, now, { ...before.progress, due: undefined });
}

function haveSameStages(a: readonly Stage[], b: readonly Stage[]): boolean {
  const names = (stages: readonly Stage[]) => stages.map(({ name }) => name).join("\n");
  return names(a) === names(b);
}
