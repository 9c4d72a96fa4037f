import { getOrAdd } from "../../engine/maps.ts";
import type { ClientCheckReport } from "../../tools/client-test/client-report-types.ts";
import { ManualClientTest, type ManualEnd } from "../../tools/client-test/manual-test.ts";
import {
  type Arguments,
  getSandboxName,
  optional,
  requireAction,
  required,
  SANDBOX,
  type Tool,
  type ToolTarget,
} from "./tool.ts";

const ACTIONS = ["start", "status", "end", "stop"];
const ENDS: readonly ManualEnd[] = ["worked", "error", "hangs"];

/** The running tests of each server, by the name of the sandbox. */
const RUNNING_TESTS = new WeakMap<object, Map<string, ManualClientTest>>();

/** A model uses the client by hand, and reads the verdicts as they come (interfaces.md 21). */
export const CLIENT_TEST_TOOL: Tool = {
  name: "client_test",
  title: "Test a client",
  description:
    "Grades an application that calls the API. `start` prepares the sandbox for the first run; then use the application against base_url, and end each run with how it ended. `status` shows what its requests prove so far. Each run begins with the sandbox as it was, with other failures; the journal is cleared.",
  destroys: true,
  fields: () => ({
    ...SANDBOX,
    action: required({ enum: ACTIONS }),
    how: optional({ enum: ENDS, description: "With end: the application worked, showed an error, or hangs" }),
    checks: optional({
      type: "array",
      items: { type: "string" },
      description: "With start: checks by id; default all",
    }),
  }),
  run: runClientTest,
};

async function runClientTest(target: ToolTarget, args: Arguments): Promise<unknown> {
  const { action, how, checks } = args;
  requireAction("client_test", action, ACTIONS);
  const name = getSandboxName(args);
  const tests = getOrAdd(RUNNING_TESTS, target.api, () => new Map<string, ManualClientTest>());
  const sandbox = await target.client.open(name);
  if (action === "start") {
    if (tests.has(name)) throw new Error(`a client test runs in ${name}; end its runs, or stop it`);
    tests.set(name, new ManualClientTest(sandbox, { only: checks as string[] | undefined }));
  }
  const test = tests.get(name);
  if (test === undefined) throw new Error(`no client test runs in ${name}; use the action start`);
  if (action === "end") {
    if (!ENDS.includes(how as ManualEnd)) throw new Error(`the action end needs how: ${ENDS.join(", ")}`);
    test.end(how as ManualEnd);
  }
  if (action === "stop") test.stop();
  try {
    await (action === "stop" ? test.report : test.waitForRun());
  } catch (error) {
    tests.delete(name);
    throw error;
  }
  const { run, checks: currentChecks, report } = await test.status();
  if (report !== undefined) tests.delete(name);
  const { verdict, stopped, summary } = report ?? {};
  return {
    base_url: sandbox.url,
    run,
    checks: currentChecks.map(summarizeCheck),
    ...(report && { report: { verdict, stopped, summary } }),
  };
}

function summarizeCheck({ id, title, outcome, why, advice, evidence }: ClientCheckReport) {
  const fix = outcome === "failed" ? { advice } : {};
  return { id, title, outcome, why, ...fix, evidence: evidence.map((entry) => entry.id) };
}
