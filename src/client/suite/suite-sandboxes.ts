import isEqual from "fast-deep-equal";
import type { ExpectDocument } from "../../engine/faults/rule-document.ts";
import type { Scenario } from "../../engine/faults/scenario.ts";
import type { RunEnd } from "../../tools/client-test/client-check.ts";
import { readCheck, toStageRun } from "../../tools/client-test/read-check.ts";
import { assemble } from "../../understudy.ts";
import { connect, type UnderstudyClient } from "../connect.ts";
import { ControlError } from "../http.ts";
import { type CountExpectation, describeNearest, formatExpectedCount } from "../received.ts";
import type { SandboxClient } from "../sandbox.ts";
import type { SuiteTest } from "../suite-share.ts";
import type {
  Expectation,
  RuleDefinition,
  SandboxOptions,
  ScenarioName,
  ScenarioState,
  Verification,
} from "../types.ts";
import type { ExpectationOutcome, RuleOutcome, SuiteRequest } from "./suite-result.ts";

const MAX_ENTRIES = 1000;

export type SandboxStage = NonNullable<ScenarioState["stages"]>[number];

/** The sandboxes of one scenario's run: the suite's own, then those of tests; checks use all of them. */
export class SuiteSandboxes {
  readonly all: readonly SandboxClient[];
  private readonly server: SuiteServer;
  private readonly scenario: Scenario;

  private constructor(server: SuiteServer, scenario: Scenario, all: readonly SandboxClient[]) {
    this.server = server;
    this.scenario = scenario;
    this.all = all;
  }

  /** The sandboxes in their state after the command has ended. */
  static async find(
    suiteSandbox: SandboxClient,
    server: SuiteServer,
    scenario: Scenario,
  ): Promise<SuiteSandboxes> {
    const names = (await server.client.list()).map(({ name }) => name);
    // Sandboxes of tests have the suite's name as a prefix, so that the suite finds them (test-sandbox.ts).
    const testNames = names.filter((name) => name.startsWith(`${suiteSandbox.name}--`));
    const testSandboxes = await Promise.all(testNames.map((name) => server.client.open(name)));
    return new SuiteSandboxes(server, scenario, [suiteSandbox, ...testSandboxes]);
  }

  /** How often each rule was triggered, in all sandboxes. */
  async countHits(): Promise<RuleOutcome[]> {
    const hits = this.all.map((sandbox) => this.server.countHits(sandbox, this.scenario));
    const allHits = (await Promise.all(hits)).flat();
    return this.scenario.rules.map(({ id }) => ({
      id,
      hits: allHits.reduce((sum, rule) => sum + (rule.id === id ? rule.hits : 0), 0),
    }));
  }

  async evaluate(expected: readonly ExpectDocument[], scope: Scope): Promise<ExpectationOutcome[]> {
    const outcomes: ExpectationOutcome[] = [];
    for (const expectation of expected) {
      const { sequence, client } = expectation;
      if (client !== undefined) outcomes.push(...(await this.readChecks(client, scope)));
      else if (sequence !== undefined) outcomes.push(await this.checkSequence(expectation, scope));
      else outcomes.push(await this.checkCount(expectation, scope));
    }
    return outcomes;
  }

  private checkCount(
    { match, count, description }: ExpectDocument,
    { stage }: Scope,
  ): Promise<ExpectationOutcome> {
    const expectedCount: CountExpectation["count"] = count ?? { min: 1 };
    const formattedCount = formatExpectedCount(expectedCount);
    const what =
      description === undefined
        ? `${formattedCount} of ${JSON.stringify(match)}`
        : `${description} (${formattedCount})`;
    return treatRefusalAsUnmet(what, async () => {
      const expectation = {
        match: { ...match, ...(stage && { stage }) },
        count: expectedCount,
      } as CountExpectation;
      const verifications = await Promise.all(this.all.map((sandbox) => sandbox.journal.verify(expectation)));
      const found = verifications.reduce((sum, one) => sum + one.found, 0);
      if (matchesCount(found, expectedCount)) return { what, ok: true, found };
      const why = `expected ${what}, found ${found}${describeNearest(findNearest(verifications))}`;
      return { what, ok: false, found, why };
    });
  }

  /** Looks for the sequence in each sandbox; it may not be spread over several. */
  private checkSequence(
    { sequence = [], description }: ExpectDocument,
    { stage }: Scope,
  ): Promise<ExpectationOutcome> {
    const what = description ?? `in this order: ${sequence.map((match) => JSON.stringify(match)).join(", ")}`;
    return treatRefusalAsUnmet(what, async () => {
      const expectation = {
        sequence: sequence.map((match) => ({ ...match, ...(stage && { stage }) })),
      } as Expectation;
      const verifications = await Promise.all(this.all.map((sandbox) => sandbox.journal.verify(expectation)));
      const [best] = verifications.toSorted((a, b) => b.found - a.found);
      const { ok, found, why = "" } = best!;
      return ok ? { what, ok, found } : { what, ok, found, why: `expected ${what}; ${why}` };
    });
  }

  /** Reads each check in each sandbox: it fails if it fails in one, else it passes if it passes in one. */
  private async readChecks(ids: readonly string[], { stage, end }: Scope): Promise<ExpectationOutcome[]> {
    const runs = await Promise.all(
      this.all.map(async (sandbox) => {
        const { clock } = await sandbox.info();
        const { entries } = await sandbox.journal.list({ kind: "request", limit: MAX_ENTRIES });
        const requests = entries.toReversed();
        // A server without the scenario gets its rules one by one, and those are inline.
        const source = this.server.hasScenario(this.scenario) ? this.scenario.name : "inline";
        const run = toStageRun(requests, { end, source, stage });
        return { run, requests, isRealTime: clock.mode !== "frozen" && clock.rate === 1 };
      }),
    );
    return ids.map((id) => {
      const findings = runs.map((one) => readCheck(id, one));
      const finding =
        findings.find(({ outcome }) => outcome === "failed") ??
        findings.find(({ outcome }) => outcome === "passed") ??
        findings[0]!;
      const what = `the client check ${id}`;
      if (finding.outcome === "passed") return { what, ok: true, why: finding.why };
      const unclear = finding.outcome === "not-observable" && { unclear: true as const };
      const evidence = finding.evidence.slice(0, 3).map(({ id: request }) => request);
      const evidenceText = evidence.length === 0 ? "" : ` (${evidence.join(", ")})`;
      return { what, ok: false, why: `${id}: ${finding.why}${evidenceText}`, ...unclear };
    });
  }

  /** How far the stages of the scenario are in each sandbox. */
  async listStages(): Promise<SandboxStage[][]> {
    const lists = await Promise.all(this.all.map((sandbox) => sandbox.scenarios.list()));
    return lists.map(({ items }) => items.find(({ name }) => name === this.scenario.name)?.stages ?? []);
  }

  /** The requests of all sandboxes; within each, oldest first. */
  async listJournal(tests: readonly SuiteTest[]): Promise<{ requests: number; journal: SuiteRequest[] }> {
    const names = new Map(tests.map(({ sandbox, name }) => [sandbox, name]));
    const pages = await Promise.all(
      this.all.map((sandbox) => sandbox.journal.list({ kind: "request", limit: MAX_ENTRIES })),
    );
    const journal = pages.flatMap(({ entries }, position) => {
      const test = names.get(this.all[position]!.name) ?? null;
      return entries.toReversed().map((entry) => ({ ...entry, test }));
    });
    return { requests: pages.reduce((sum, { total }) => sum + total, 0), journal };
  }

  /** The bundle of the first failed test's sandbox, else of the suite's own; undefined if the server refuses it. */
  async exportBundle(tests: readonly SuiteTest[]): Promise<object | undefined> {
    const failed = tests.find(({ outcome }) => outcome === "failed");
    const [suiteSandbox] = this.all;
    const sandbox = this.all.find(({ name }) => name === failed?.sandbox) ?? suiteSandbox!;
    return sandbox.bundle().catch((error: unknown) => {
      if (error instanceof ControlError) return undefined;
      throw error;
    });
  }
}

/** The requests that an expectation is about: those of a stage, as `scenario/stage`, or all; and how the command ended. */
interface Scope {
  stage?: string;
  end: RunEnd;
}

/** An expectation that the sandbox refuses, for example because its journal has lost entries, is not met. */
async function treatRefusalAsUnmet(
  what: string,
  ask: () => Promise<ExpectationOutcome>,
): Promise<ExpectationOutcome> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { what, ok: false, found: 0, why: `expected ${what}, but: ${error.message}` };
  }
}

function matchesCount(found: number, count: CountExpectation["count"]): boolean {
  if (typeof count === "number") return found === count;
  return found >= (count.min ?? 0) && found <= (count.max ?? Number.POSITIVE_INFINITY);
}

function findNearest(verifications: readonly Verification[]): Verification["nearest"] {
  return verifications
    .flatMap(({ nearest }) => nearest)
    .sort((a, b) => a.differences.length - b.differences.length)
    .slice(0, 1);
}

/** The world of a suite's sandbox. */
export interface SuiteSandboxOptions extends Pick<SandboxOptions, "fixture" | "seed" | "clock"> {
  name: string;
}

/** The server with the sandboxes of a suite: in this process, or elsewhere. */
export class SuiteServer {
  readonly client: UnderstudyClient;
  /** Whether it runs in this process and has the scenarios by name. A server elsewhere gets their rules one by one. */
  readonly isLocal: boolean;
  readonly close: () => Promise<void>;

  private constructor(client: UnderstudyClient, close?: () => Promise<void>) {
    this.client = client;
    this.isLocal = close !== undefined;
    this.close = close ?? (async () => {});
  }

  /** Starts a server in this process, which reads these files and has every other scenario by name. */
  static async start(files: readonly string[], scenariosFolder: string | undefined): Promise<SuiteServer> {
    const understudy = assemble({ scenariosFolder, refuseDefault: true });
    for (const file of files) understudy.scenarios.addFile(file);
    const url = await understudy.listen(0, "127.0.0.1");
    return new SuiteServer(connect(url), () => understudy.close());
  }

  /** Uses a server that runs elsewhere. */
  static connect(url: string, token: string | undefined): SuiteServer {
    return new SuiteServer(connect(url, { token }));
  }

  /** The scenarios with stages that a server elsewhere does not have, or has with other contents. */
  async findMissing(scenarios: readonly Scenario[]): Promise<string[]> {
    const staged = scenarios.filter(({ stages }) => stages.length > 0);
    if (this.isLocal || staged.length === 0) return [];
    const { items } = await (await this.client.open("default")).scenarios.list();
    return staged.flatMap((scenario) => {
      const existing = items.find(({ name }) => name === scenario.name);
      return existing !== undefined && isSameScenario(existing, scenario) ? [] : [scenario.name];
    });
  }

  /** Whether the server has the scenario by name; `findMissing` has made sure of those with stages. */
  hasScenario({ stages }: Scenario): boolean {
    return this.isLocal || stages.length > 0;
  }

  /** A fresh sandbox with the active scenario. */
  async open(options: SuiteSandboxOptions, scenario: Scenario): Promise<SandboxClient> {
    if (this.hasScenario(scenario)) {
      const scenarios = [scenario.name as ScenarioName];
      return this.client.sandbox({ ...options, scenarios, ...(this.isLocal && { origin: true }) });
    }
    const sandbox = await this.client.sandbox(options);
    try {
      // The newest inline rule goes first (interfaces 6), so the last of the file is armed first.
      for (const rule of toRules(scenario).toReversed()) await sandbox.faults.add(rule);
      return sandbox;
    } catch (error) {
      await sandbox.delete();
      throw error;
    }
  }

  /** The environment variables of a command that tests in the sandbox (interfaces 2). */
  getEnvironment({ url, controlUrl, name }: SandboxClient): Record<string, string> {
    const { token } = this.client.http;
    return {
      UNDERSTUDY_BASE_URL: url,
      UNDERSTUDY_CONTROL_URL: controlUrl,
      UNDERSTUDY_SANDBOX: name,
      UNDERSTUDY_URL: this.client.url,
      ...(token && { UNDERSTUDY_TOKEN: token }),
    };
  }

  /** How often each rule was triggered. */
  async countHits(sandbox: SandboxClient, scenario: Scenario): Promise<RuleOutcome[]> {
    const { name, rules } = scenario;
    const armed = this.hasScenario(scenario)
      ? (await sandbox.scenarios.list()).items.find((one) => one.name === name)?.rules
      : (await sandbox.faults.list()).items;
    // A reset by the application removes inline rules: a missing rule counts as not triggered since.
    return rules.map(({ id }) => ({ id, hits: armed?.find((rule) => rule.id === id)?.hits ?? 0 }));
  }
}

function isSameScenario({ rules, stages = [] }: ScenarioState, scenario: Scenario): boolean {
  const serverRules = rules.map(({ hits: _hits, spent: _spent, lease, ...rule }) => {
    const { ttl, hits } = lease ?? {};
    return { ...rule, ...(lease && { lease: JSON.parse(JSON.stringify({ ttl, hits })) }) };
  });
  const serverStages = stages.map(({ name, until, expect, rules: ids }) => ({ name, until, expect, ids }));
  const fileStages = scenario.stages.map(({ name, document: { until, expect }, rules: ids }) => {
    return { name, until, expect, ids: [...ids] };
  });
  return isEqual(serverRules, toRules(scenario)) && isEqual(serverStages, fileStages);
}

/** The rules to add to a server that does not have the scenario's file. */
export function toRules({ rules }: Scenario): RuleDefinition[] {
  return rules.map(({ id, document }) => ({ ...document, id }) as RuleDefinition);
}
