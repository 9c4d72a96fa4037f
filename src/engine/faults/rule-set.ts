import type { DeclaredApi } from "../contract/event.ts";
import type { FaultState } from "../sandbox/fault-injector.ts";
import { ArmedRule, newProgress, type Progress } from "./armed-rule.ts";
import type { Leases } from "./leases.ts";
import { type Rule, readInlineRule } from "./rule.ts";
import type { Scenario, ScenarioSource } from "./scenario.ts";

/** A rule's id is in use among the inline ones. */
export class RuleExists extends Error {
  override readonly name = "RuleExists";
}

/** Where rules come from. */
export interface RuleSources {
  scenarios: ScenarioSource;
  api: DeclaredApi;
  /** In force in every sandbox, behind all others, and never to be switched off. */
  base: readonly Rule[];
}

interface ActiveScenario {
  name: string;
  rules: readonly ArmedRule[];
}

/** Which rules are in force in one sandbox, in their order (interfaces 3 and 6). */
export class RuleSet {
  private readonly sources: RuleSources;
  private readonly changed: () => void;
  private readonly leases: Leases;
  private first: readonly string[] = [];
  private scenarios: readonly ActiveScenario[] = [];
  /** The newest first. */
  private inline: readonly ArmedRule[] = [];
  private numbered = 0;
  private base: readonly ArmedRule[];

  constructor(sources: RuleSources, { changed, leases }: { changed: () => void; leases: Leases }) {
    this.sources = sources;
    this.changed = changed;
    this.leases = leases;
    this.base = armedBase(sources);
  }

  get active(): readonly string[] {
    return this.scenarios.map(({ name }) => name);
  }

  /** The newest first. */
  get inlineRules(): readonly ArmedRule[] {
    return this.inline;
  }

  /** Inline rules before those of scenarios (interfaces 3). */
  all(): ArmedRule[] {
    return [...this.inline, ...this.scenarios.flatMap(({ rules }) => rules), ...this.base];
  }

  /** The rules of a scenario with what they have done here; undefined when it is not in force. */
  rulesOf(scenario: string): readonly ArmedRule[] | undefined {
    return this.scenarios.find(({ name }) => name === scenario)?.rules;
  }

  /**
   * Exactly these scenarios; one that was in force already goes on where it was.
   * @throws UnknownScenario, DocumentError; nothing has changed then
   */
  activate(names: readonly string[], first: boolean): void {
    const wanted = [...new Set(names)].map((name) => this.sources.scenarios.get(name));
    this.arm(wanted, first);
  }

  private arm(wanted: readonly Scenario[], first: boolean): void {
    const before = this.scenarios;
    this.scenarios = wanted.map(
      (scenario) => before.find(({ name }) => name === scenario.name) ?? armedScenario(scenario),
    );
    if (first) this.first = this.active;
    this.leases.end(before.filter((one) => !this.scenarios.includes(one)).flatMap(({ rules }) => rules));
    this.leases.begin(this.scenarios.filter((one) => !before.includes(one)).flatMap(({ rules }) => rules));
    this.follow();
    this.changed();
  }

  /** A scenario's file was edited: rules that say the same as before go on where they were. */
  renew(scenario: Scenario): void {
    const before = this.scenarios.find(({ name }) => name === scenario.name);
    if (before === undefined) return;
    const rules = scenario.rules.map((rule) => {
      const old = before.rules.find((one) => one.rule.id === rule.id);
      return old !== undefined && sameRule(old.rule, rule) ? old : new ArmedRule(rule, scenario.name);
    });
    this.leases.end(before.rules.filter((one) => !rules.includes(one)));
    this.leases.begin(rules.filter((one) => !before.rules.includes(one)));
    this.scenarios = this.scenarios.map((one) => (one === before ? { name: one.name, rules } : one));
    this.changed();
  }

  /** @throws DocumentError for a rule that is wrong, RuleExists */
  add(document: unknown): ArmedRule {
    const rule = readInlineRule(document, this.sources.api, () => this.freeId());
    if (this.inline.some((one) => one.rule.id === rule.id)) throw new RuleExists(rule.id);
    const armed = new ArmedRule(rule, "inline");
    this.inline = [armed, ...this.inline];
    this.leases.begin([armed]);
    this.changed();
    return armed;
  }

  /** False when there is no inline rule of this id. */
  remove(id: string): boolean {
    const found = this.inline.find(({ rule }) => rule.id === id);
    if (found === undefined) return false;
    this.inline = this.inline.filter((one) => one !== found);
    this.leases.end([found]);
    this.changed();
    return true;
  }

  clear(): void {
    const { inline } = this;
    this.inline = [];
    this.leases.end(inline);
    this.changed();
  }

  /** The lease with this key ended; false when it is no rule's. */
  expire(key: string): boolean {
    const found = this.all().find((rule) => rule.key === key);
    if (found?.progress.due === undefined) return false;
    found.progress.due = undefined;
    found.progress.expired = true;
    this.changed();
    return true;
  }

  /** As on the first day; the world is a new one, with no lease in it. */
  reset(): void {
    this.inline = [];
    this.scenarios = [];
    this.base = armedBase(this.sources);
    this.numbered = 0;
    this.arm(
      this.first.map((name) => this.sources.scenarios.lastGood(name)),
      true,
    );
  }

  state(): FaultState {
    const inline = this.inline.map(({ rule }) => ({ id: rule.id, rule: rule.document }));
    const progress = Object.fromEntries(
      this.all().map(({ key, progress: one }) => [key, structuredClone(one)]),
    );
    return { first: this.first, active: this.active, inline, progress, numbered: this.numbered };
  }

  /** Returns the names of scenarios that are no longer to be had; the rest is in force. */
  restoreState(state: FaultState): string[] {
    const { scenarios, api } = this.sources;
    const lost = state.active.filter((name) => !scenarios.has(name));
    const savedProgress = (key: string): Progress => ({
      ...newProgress(),
      ...structuredClone(state.progress[key]),
    });
    this.numbered = state.numbered;
    this.first = state.first.filter((name) => scenarios.has(name));
    this.inline = state.inline.map(({ id, rule }) => {
      const armed = new ArmedRule(
        readInlineRule({ ...rule, id }, api, () => id),
        "inline",
      );
      armed.progress = savedProgress(armed.key);
      return armed;
    });
    this.scenarios = state.active
      .filter((name) => !lost.includes(name))
      .map((name) => armedScenario(scenarios.lastGood(name), savedProgress));
    this.base = armedBase(this.sources, savedProgress);
    this.leases.settle(this.all());
    this.follow();
    this.changed();
    return lost;
  }

  close(): void {
    this.sources.scenarios.release(this);
  }

  /** Only sandboxes with an active scenario hear of edits; ten thousand without one cost nothing. */
  private follow(): void {
    if (this.scenarios.length > 0) this.sources.scenarios.use(this);
    else this.sources.scenarios.release(this);
  }

  private freeId(): string {
    for (;;) {
      const id = `fault_${++this.numbered}`;
      if (!this.inline.some(({ rule }) => rule.id === id)) return id;
    }
  }
}

function armedBase(
  { base }: RuleSources,
  savedProgress: (key: string) => Progress = newProgress,
): readonly ArmedRule[] {
  return base.map((rule) => new ArmedRule(rule, BASE, savedProgress(`${BASE}/${rule.id}`)));
}

/** Where rules come from that the server was started with. */
const BASE = "start";

function armedScenario(
  scenario: Scenario,
  savedProgress: (key: string) => Progress = newProgress,
): ActiveScenario {
  const rules = scenario.rules.map(
    (rule) => new ArmedRule(rule, scenario.name, savedProgress(`${scenario.name}/${rule.id}`)),
  );
  return { name: scenario.name, rules };
}

function sameRule(a: Rule, b: Rule): boolean {
  return JSON.stringify(a.document) === JSON.stringify(b.document);
}
