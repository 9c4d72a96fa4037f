import { randomBytes } from "node:crypto";
import type { Scenario } from "../../engine/faults/scenario.ts";
import { emptyResult, runScenario } from "./run-scenario.ts";
import type { ScenarioResult, SuiteResult } from "./suite-result.ts";
import { CoverageSum } from "./suite-result.ts";
import type { SandboxWish, SuiteServer } from "./suite-server.ts";

export interface SuiteOptions {
  server: SuiteServer;
  scenarios: readonly { file: string; scenario: Scenario }[];
  command: readonly string[];
  /** How many scenarios run at once. */
  jobs: number;
  world: Pick<SandboxWish, "fixture" | "seed" | "clock">;
  timeoutMs?: number | undefined;
  /** An abort ends the commands; resolves once they and their sandboxes are gone. */
  signal: AbortSignal;
  onStart?: (name: string) => void;
  onEnd?: (result: ScenarioResult) => void;
}

/**
 * Runs the command once per scenario, each in a fresh sandbox (interfaces 2). Results are in the order of
 * the scenarios.
 * @throws CommandNotFound
 */
export async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  const { scenarios, command, jobs } = options;
  const started = performance.now();
  const results: ScenarioResult[] = [];
  const run = randomBytes(3).toString("hex");
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  const runAt = (position: number) => {
    const { file, scenario } = scenarios[position]!;
    return { file, scenario, wish: { ...options.world, name: sandboxName(run, position, scenario.name) } };
  };
  const coverage = new CoverageSum();
  let next = 0;
  const work = async () => {
    while (next < scenarios.length && !signal.aborted) {
      const position = next++;
      const own = runAt(position);
      options.onStart?.(own.scenario.name);
      const result = await runScenario({
        ...{ server: options.server, command, signal, timeoutMs: options.timeoutMs, coverage },
        ...own,
      });
      results[position] = result;
      options.onEnd?.(result);
    }
  };
  const workers = Array.from({ length: Math.min(jobs, scenarios.length) }, () =>
    work().catch((error: unknown) => {
      // The others must have cleaned up before anybody hears of it.
      broken.abort();
      return error;
    }),
  );
  const failure = (await Promise.all(workers)).find((error) => error !== undefined);
  if (failure !== undefined) throw failure;
  const all = scenarios.map((_, position) => results[position] ?? emptyResult(runAt(position), "skipped"));
  const passed = all.filter(({ outcome }) => outcome === "passed").length;
  const skipped = all.filter(({ outcome }) => outcome === "skipped").length;
  return {
    ok: passed === all.length,
    total: all.length,
    passed,
    failed: all.length - passed - skipped,
    skipped,
    duration_ms: Math.round(performance.now() - started),
    command: [...command],
    coverage: coverage.sum(),
    scenarios: all,
  };
}

/** interfaces 3: at most 63 lower-case letters, digits and hyphens, ten of them for what tests add. */
function sandboxName(run: string, position: number, scenario: string): string {
  const slug = scenario.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `suite-${run}-${position + 1}-${slug}`.slice(0, 53).replace(/-+$/, "");
}
