import { ControlError } from "../client/http.ts";
import type { SandboxClient } from "../client/sandbox.ts";
import type { Expectation, Verification } from "../client/types.ts";
import { isOff } from "../faults/rules/rule.ts";
import type { ExpectDocument } from "../faults/rules/rule-schema.ts";
import type { Scenario } from "../faults/scenarios/scenario.ts";
import { CommandNotFound, type CommandRun, runCommand } from "./run-command.ts";
import type { ExpectationOutcome, RuleOutcome, ScenarioResult } from "./suite-result.ts";
import type { SandboxWish, SuiteServer } from "./suite-server.ts";

export interface ScenarioRun {
  server: SuiteServer;
  scenario: Scenario;
  /** As the user wrote it. */
  file: string;
  command: readonly string[];
  wish: Omit<SandboxWish, "scenario">;
  timeoutMs: number | undefined;
  signal: AbortSignal;
}

const MAX_ENTRIES = 1000;

/**
 * One scenario: a fresh sandbox, the command, then the questions to its journal. The sandbox is gone
 * afterwards, whatever happens.
 * @throws CommandNotFound
 */
export async function runScenario(run: ScenarioRun): Promise<ScenarioResult> {
  const started = performance.now();
  const result = emptyResult(run, "error");
  let sandbox: SandboxClient | undefined;
  try {
    sandbox = await run.server.open({ ...run.wish, scenario: run.scenario });
    await fill(result, run, sandbox);
  } catch (error) {
    if (error instanceof CommandNotFound) throw error;
    result.failures.push((error as Error).message);
  } finally {
    await sandbox
      ?.delete()
      .catch((error: Error) => result.failures.push(`its sandbox stays: ${error.message}`));
    result.duration_ms = Math.round(performance.now() - started);
  }
  return result;
}

/** Of a run that has not begun. */
export function emptyResult(
  { scenario, file, wish }: Pick<ScenarioRun, "scenario" | "file" | "wish">,
  outcome: ScenarioResult["outcome"],
): ScenarioResult {
  return {
    name: scenario.name,
    file,
    description: scenario.description ?? "",
    sandbox: wish.name,
    outcome,
    failures: [],
    exit_code: null,
    signal: null,
    duration_ms: 0,
    rules: [],
    expectations: [],
    requests: 0,
    output: "",
    journal: [],
  };
}

async function fill(result: ScenarioResult, run: ScenarioRun, sandbox: SandboxClient): Promise<void> {
  const { server, scenario, command, timeoutMs, signal } = run;
  const made = await runCommand(command, { env: environment(server, sandbox, scenario), timeoutMs, signal });
  const { exit_code, output } = made;
  Object.assign(result, { exit_code, signal: made.signal, output });
  result.rules = await server.hits(sandbox, scenario);
  for (const expectation of scenario.expect) result.expectations.push(await judged(sandbox, expectation));
  const journal = await sandbox.journal.list({ kind: "request", limit: MAX_ENTRIES });
  result.requests = journal.total;
  result.failures = [
    ...commandFailure(made, run),
    ...unstruck(result.rules, scenario),
    ...result.expectations.flatMap(({ why }) => why ?? []),
  ];
  result.outcome = result.failures.length === 0 ? "passed" : "failed";
  if (result.outcome === "passed") return;
  result.journal = journal.entries.toReversed();
  result.bundle = await sandbox.bundle().catch((error: unknown) => {
    if (error instanceof ControlError) return undefined;
    throw error;
  });
}

/** interfaces 2. */
function environment(
  server: SuiteServer,
  sandbox: SandboxClient,
  scenario: Scenario,
): Record<string, string> {
  return {
    UNDERSTUDY_BASE_URL: sandbox.url,
    UNDERSTUDY_CONTROL_URL: sandbox.controlUrl,
    UNDERSTUDY_SANDBOX: sandbox.name,
    UNDERSTUDY_SCENARIO: scenario.name,
    UNDERSTUDY_URL: server.url,
    ...(server.token === undefined ? {} : { UNDERSTUDY_TOKEN: server.token }),
  };
}

function commandFailure(made: CommandRun, { timeoutMs, signal }: ScenarioRun): string[] {
  if (signal.aborted) return ["the suite was interrupted"];
  if (made.timed_out) return [`the command did not end within ${(timeoutMs ?? 0) / 1000} s`];
  if (made.signal !== null) return [`the command was ended by ${made.signal}`];
  return made.exit_code === 0 ? [] : [`the command exited with ${made.exit_code}`];
}

/** A rule that never struck proves nothing about the application. */
function unstruck(rules: readonly RuleOutcome[], scenario: Scenario): string[] {
  const off = new Set(scenario.rules.filter(isOff).map(({ id }) => id));
  return rules
    .filter(({ id, hits }) => hits === 0 && !off.has(id))
    .map(({ id }) => `the rule ${id} never struck`);
}

async function judged(
  sandbox: SandboxClient,
  { match, count, description }: ExpectDocument,
): Promise<ExpectationOutcome> {
  const wanted = count ?? { min: 1 };
  const many = countText(wanted);
  const what = description === undefined ? `${many} of ${JSON.stringify(match)}` : `${description} (${many})`;
  try {
    const { ok, found, nearest } = await sandbox.journal.verify({ match, count: wanted } as Expectation);
    if (ok) return { what, ok, found };
    return { what, ok, found, why: `expected ${what}, found ${found}${nearestText(nearest)}` };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { what, ok: false, found: 0, why: `expected ${what}, but: ${error.message}` };
  }
}

function countText(count: number | { min?: number; max?: number }): string {
  if (typeof count === "number") return `exactly ${count}`;
  const { min, max } = count;
  if (max === undefined) return `at least ${min}`;
  return min === undefined ? `at most ${max}` : `${min} to ${max}`;
}

function nearestText([first]: Verification["nearest"]): string {
  if (first === undefined) return "";
  const { method, path, status, differences } = first;
  const why = differences.length > 0 ? ` (${differences.join("; ")})` : "";
  return `; nearest: ${method} ${path} -> ${status}${why}`;
}
