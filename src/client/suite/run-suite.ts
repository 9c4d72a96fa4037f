import { randomBytes } from "node:crypto";
import type { Scenario } from "../../engine/faults/scenario.ts";
import type { RunEnd } from "../../tools/client-test/client-check.ts";
import { ControlError } from "../http.ts";
import type { SandboxClient } from "../sandbox.ts";
import { ShareFile, SUITE_FILE_VARIABLE, type SuiteShare } from "../suite-share.ts";
import type { ScenarioName } from "../types.ts";
import { CommandNotFound, type CommandRun, describeFailedEnd, runCommand } from "./run-command.ts";
import { CoverageSum, type ScenarioResult, type SuiteResult } from "./suite-result.ts";
import { SuiteSandboxes } from "./suite-sandboxes.ts";
import { type SuiteSandboxOptions, type SuiteServer, toRules } from "./suite-server.ts";
import { describeNeverTriggered, judgeStages } from "./suite-stages.ts";

interface SuiteOptions {
  server: SuiteServer;
  scenarios: readonly { file: string; scenario: Scenario }[];
  command: readonly string[];
  /** How many scenarios run at once. */
  jobs: number;
  world: Omit<SuiteSandboxOptions, "name">;
  timeoutMs?: number | undefined;
  /** An abort ends the commands; `runSuite` resolves once they and their sandboxes are gone. */
  signal: AbortSignal;
  onStart?: (name: string) => void;
  onEnd?: (result: ScenarioResult) => void;
}

/**
 * Runs the command once per scenario, each in a fresh sandbox (interfaces.md 2). Results are in the order of
 * the scenarios.
 * @throws CommandNotFound; ControlError if the server refuses the world
 */
export async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  const { server, scenarios, command, jobs, world, timeoutMs } = options;
  const started = performance.now();
  const id = randomBytes(3).toString("hex");
  const errorAbort = new AbortController();
  const signal = AbortSignal.any([options.signal, errorAbort.signal]);
  const coverage = new CoverageSum();
  const runs = scenarios.map(({ file, scenario }, position): ScenarioRun => {
    const sandboxOptions = { ...world, name: nameSandbox(id, position, scenario.name) };
    return { server, command, signal, timeoutMs, coverage, file, scenario, sandboxOptions };
  });
  const results = runs.map(toSkippedResult);
  let next = 0;
  const runNext = async () => {
    while (next < runs.length && !signal.aborted) {
      const position = next++;
      const run = runs[position]!;
      options.onStart?.(run.scenario.name);
      const result = await runScenario(run);
      results[position] = result;
      options.onEnd?.(result);
    }
  };
  const workers = Array.from({ length: Math.min(jobs, runs.length) }, () =>
    runNext().catch((error: unknown) => {
      // The other runs must clean up before this rejects.
      errorAbort.abort();
      return error;
    }),
  );
  const failure = (await Promise.all(workers)).find((error) => error !== undefined);
  if (failure !== undefined) throw failure;
  const total = results.length;
  const passed = results.filter(({ outcome }) => outcome === "passed").length;
  const skipped = results.filter(({ outcome }) => outcome === "skipped").length;
  return {
    ok: passed === total,
    total,
    passed,
    failed: total - passed - skipped,
    skipped,
    duration_ms: Math.round(performance.now() - started),
    command: [...command],
    coverage: coverage.sum(),
    scenarios: results,
  };
}

/** A name has at most 63 lower-case letters, digits and hyphens (interfaces.md 3); tests append ten characters. */
function nameSandbox(run: string, position: number, scenario: string): string {
  const slug = scenario.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `suite-${run}-${position + 1}-${slug}`.slice(0, 53).replace(/-+$/, "");
}

interface ScenarioRun {
  server: SuiteServer;
  scenario: Scenario;
  /** The path as the user typed it, or as `scenario list` shows that of a scenario given by name. */
  file: string;
  command: readonly string[];
  sandboxOptions: SuiteSandboxOptions;
  timeoutMs: number | undefined;
  signal: AbortSignal;
  coverage: CoverageSum;
}

/**
 * Runs one scenario: a fresh sandbox, the command, then the checks of its journal and of those of the sandboxes that
 * tests opened. All are deleted afterwards.
 * @throws CommandNotFound; ControlError if the server refuses the world
 */
async function runScenario(run: ScenarioRun): Promise<ScenarioResult> {
  const started = performance.now();
  const result: ScenarioResult = { ...toSkippedResult(run), outcome: "error" };
  let sandbox: SandboxClient | undefined;
  const share = new ShareFile(toShare(run));
  try {
    sandbox = await run.server.open(run.sandboxOptions, run.scenario);
    await runAndCheck(result, { ...run, sandbox, share });
  } catch (error) {
    if (error instanceof CommandNotFound || isRefusedWorld(error)) throw error;
    result.failures.push((error as Error).message);
  } finally {
    share.remove();
    if (sandbox !== undefined) await deleteSandboxes(sandbox, run, result);
    result.duration_ms = Math.round(performance.now() - started);
  }
  return result;
}

/** Whether the server refused an option that is the same for all runs. */
function isRefusedWorld(error: unknown): boolean {
  const field = error instanceof ControlError ? error.problem.field : undefined;
  return field !== undefined && /^(fixture|seed|clock)\b/.test(field);
}

/** Deletes the run's sandboxes, also those of tests that were killed before they could report. */
async function deleteSandboxes(
  sandbox: SandboxClient,
  { server, scenario }: ScenarioRun,
  { failures }: ScenarioResult,
): Promise<void> {
  try {
    const { all } = await SuiteSandboxes.find(sandbox, server, scenario);
    for (const one of all) await one.delete();
  } catch (error) {
    failures.push(`its sandbox stays: ${(error as Error).message}`);
  }
}

/** The result of a run that has not begun. */
function toSkippedResult({ scenario, file, sandboxOptions }: ScenarioRun): ScenarioResult {
  return {
    name: scenario.name,
    file,
    description: scenario.description ?? "",
    sandbox: sandboxOptions.name,
    outcome: "skipped",
    failures: [],
    exit_code: null,
    signal: null,
    duration_ms: 0,
    rules: [],
    expectations: [],
    stages: [],
    requests: 0,
    tests: [],
    output: "",
    journal: [],
  };
}

interface StartedRun extends ScenarioRun {
  sandbox: SandboxClient;
  share: ShareFile;
}

async function runAndCheck(result: ScenarioResult, run: StartedRun): Promise<void> {
  const { server, scenario, command, timeoutMs, signal, sandbox, share } = run;
  const env = {
    ...server.getEnvironment(sandbox),
    UNDERSTUDY_SCENARIO: scenario.name,
    [SUITE_FILE_VARIABLE]: share.path,
  };
  const commandRun = await runCommand(command, { env, timeoutMs, signal });
  const { exit_code, output } = commandRun;
  Object.assign(result, { exit_code, signal: commandRun.signal, output, tests: share.listTests() });
  const { tests } = result;
  const sandboxes = await SuiteSandboxes.find(sandbox, server, scenario);
  result.rules = await sandboxes.countHits();
  const end = toRunEnd(commandRun);
  result.expectations = await sandboxes.evaluate(scenario.expect, { end });
  result.stages = await judgeStages(sandboxes, scenario, { end, rules: result.rules });
  for (const one of sandboxes.all) await run.coverage.add(one);
  const { requests, journal } = await sandboxes.listJournal(tests);
  result.requests = requests;
  result.failures = listFailures(result, commandRun, run);
  result.outcome = result.failures.length === 0 ? "passed" : "failed";
  if (result.outcome === "passed") return;
  result.journal = journal;
  const bundle = await sandboxes.exportBundle(tests);
  if (bundle !== undefined) result.bundle = bundle;
}

function listFailures(
  { tests, rules, expectations, stages }: ScenarioResult,
  commandRun: CommandRun,
  { signal, timeoutMs, scenario }: StartedRun,
): string[] {
  // An interrupted run may lack expected events, so only the interruption is reported.
  if (signal.aborted) return ["the suite was interrupted"];
  const command = commandRun.timed_out
    ? `the command did not end within ${timeoutMs! / 1000} s`
    : describeFailedEnd(commandRun);
  // If the command passed, the runner has retried each failed test with success.
  const failed = command === undefined ? [] : tests.filter(({ outcome }) => outcome === "failed");
  const rulesOfNoStage = rules.filter(({ id }) => !scenario.stages.some((stage) => stage.rules.has(id)));
  return [
    ...(command === undefined ? [] : [command]),
    ...failed.map(({ name }) => `the test failed: ${name}`),
    ...describeNeverTriggered(rulesOfNoStage, scenario),
    ...expectations.flatMap(({ ok, why }) => (ok ? [] : (why ?? []))),
    ...stages
      .filter(({ verdict }) => verdict !== "passed")
      .map(
        ({ name, verdict, why }) =>
          `the stage ${name} ${verdict === "failed" ? "failed" : "is inconclusive"}: ${why.join("; ")}`,
      ),
  ];
}

function toRunEnd({ exit_code, timed_out }: CommandRun): RunEnd {
  const detail = `exit code ${exit_code}`;
  if (timed_out) return { how: "timed out", detail };
  return { how: exit_code === 0 ? "ok" : "failed", detail };
}

function toShare({ sandboxOptions, server, scenario }: ScenarioRun): SuiteShare {
  const { name, fixture, seed, clock } = sandboxOptions;
  return {
    sandbox: name,
    world: JSON.parse(JSON.stringify({ fixture, seed, clock })),
    origin: server.isLocal,
    scenarios: server.isActivatedByName(scenario) ? [scenario.name as ScenarioName] : [],
    rules: server.isActivatedByName(scenario) ? [] : toRules(scenario),
  };
}
