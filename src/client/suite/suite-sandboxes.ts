import type { ExpectDocument } from "../../engine/faults/rule-document.ts";
import type { Scenario } from "../../engine/faults/scenario.ts";
import type { RunEnd } from "../../tools/client-test/client-check.ts";
import { readCheck, toStageRun } from "../../tools/client-test/read-check.ts";
import { ControlError } from "../http.ts";
import { type CountExpectation, describeNearest, formatExpectedCount } from "../received.ts";
import type { SandboxClient } from "../sandbox.ts";
import type { SuiteTest } from "../suite-share.ts";
import type { Expectation, ScenarioState, Verification } from "../types.ts";
import type { ExpectationOutcome, RuleOutcome, SuiteRequest } from "./suite-result.ts";
import type { SuiteServer } from "./suite-server.ts";

/** A report shows the newest requests of a sandbox only. */
const MAX_SHOWN = 1000;

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
    { match, count: expectedCount = { min: 1 }, description }: ExpectDocument,
    { stage }: Scope,
  ): Promise<ExpectationOutcome> {
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
    { sequence = [], strict, description }: ExpectDocument,
    { stage }: Scope,
  ): Promise<ExpectationOutcome> {
    const what = description ?? `in this order: ${sequence.map((match) => JSON.stringify(match)).join(", ")}`;
    return treatRefusalAsUnmet(what, async () => {
      const expectation = {
        sequence: sequence.map((match) => ({ ...match, ...(stage && { stage }) })),
        ...(strict && { strict }),
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
        const { entries, dropped } = await sandbox.journal.list({ kind: "request" });
        const requests = entries.toReversed();
        // A server without the scenario gets its rules one by one, and those are inline.
        const source = this.server.isActivatedByName(this.scenario) ? this.scenario.name : "inline";
        const run = toStageRun(requests, { end, source, stage });
        return { dropped, run, requests, isRealTime: clock.mode !== "frozen" && clock.rate === 1 };
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
      this.all.map((sandbox) => sandbox.journal.list({ kind: "request", limit: MAX_SHOWN })),
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
