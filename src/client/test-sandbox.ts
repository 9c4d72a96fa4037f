import { randomBytes } from "node:crypto";
import { isFolder } from "../documents/files.ts";
import { findServedKind } from "../engine/faults/rule.ts";
import type { RuleDocument } from "../engine/faults/rule-document.ts";
import { computeOnce, getOrAdd } from "../engine/maps.ts";
import { connectToNamed, createUnderstudy, type LocalUnderstudy } from "./create-understudy.ts";
import { formatJournal } from "./evidence.ts";
import { describeHeld } from "./held.ts";
import { ControlError } from "./http.ts";
import { createLocal } from "./local-understudy.ts";
import { type OwnOperationOptions, requireKnownOptions, showValue, WORLD_OPTIONS } from "./options.ts";
import { getTestName, identifyByFile, UNNAMED, watchSkips } from "./runner-context.ts";
import type { SandboxClient } from "./sandbox.ts";
import { readSuiteShare } from "./suite-share.ts";
import type { FaultRule, Held, SandboxOptions, ScenarioName } from "./types.ts";

/** The world that a test begins with (interfaces.md 13), by `test.use`, `test.extend` or the runner's configuration. */
export interface TestOptions
  extends Pick<SandboxOptions, "fixture" | "seed" | "clock" | "settings">,
    OwnOperationOptions {
  /**
   * A port for each sandbox, as `sandbox.url`, unless false; on a server that `UNDERSTUDY_URL` names, whose other ports may not
   * be reachable, only if true.
   */
  origin?: boolean;
  /** Starts no server: `sandbox.fetch` answers in the test's process (interfaces.md 17). Not allowed in a suite. */
  engine?: boolean;
  /** Active from the start; in a suite, in addition to the suite's own. */
  scenarios?: readonly ScenarioName[];
  /** Folder of your own scenarios, `./scenarios` unless given; the server of `UNDERSTUDY_URL` has its `--scenarios`. */
  scenariosFolder?: string;
  /** Rules that were never triggered, or less often than their `times` say, do not fail the test. */
  allowUntriggered?: boolean;
}

const OPTIONS: readonly (keyof TestOptions)[] = [
  ...WORLD_OPTIONS,
  "origin",
  "engine",
  "operations",
  "openapi",
  "scenarios",
  "scenariosFolder",
  "allowUntriggered",
];

/**
 * Checks options at run time, for tests without a compiler; the server checks their values.
 * @throws TypeError
 */
export function checkTestOptions(options: unknown): TestOptions {
  requireKnownOptions("understudy", options as object, OPTIONS);
  const given = options as Record<string, unknown>;
  const { scenarios, scenariosFolder, operations, openapi } = given;
  const refuse = (option: string, requirement: string, value: unknown): never => {
    throw new TypeError(`understudy's option ${option} is ${requirement}; it was given ${showValue(value)}`);
  };
  if (scenarios !== undefined && !Array.isArray(scenarios)) refuse("scenarios", "a list of names", scenarios);
  for (const option of ["allowUntriggered", "origin", "engine"]) {
    const value = given[option];
    if (value !== undefined && typeof value !== "boolean") refuse(option, "true or false", value);
  }
  if (operations !== undefined && (typeof operations !== "object" || operations === null))
    refuse("operations", "a module with declarations, or a list of them", operations);
  if (openapi !== undefined && !Array.isArray(openapi)) refuse("openapi", "a list of documents", openapi);
  if (scenariosFolder !== undefined && !(typeof scenariosFolder === "string" && isFolder(scenariosFolder)))
    throw new TypeError(
      `understudy's option scenariosFolder: there is no folder ${showValue(scenariosFolder)}`,
    );
  return options as TestOptions;
}

/** The servers of a worker, each started when a test first needs it. */
export class TestServers {
  private readonly servers = new Map<string, Promise<LocalUnderstudy>>();
  private readonly numbers = new WeakMap<object, number>();
  private lastNumber = 0;
  /** Ends the sandbox of a test; for each test that has not ended. */
  private readonly unfinished = new Set<() => Promise<void>>();

  /** With `engine` no server; else the server that `UNDERSTUDY_URL` names, as in a suite; else one for the tests. */
  getServer({ scenariosFolder, engine = false, operations, openapi }: TestOptions): Promise<LocalUnderstudy> {
    const folder = scenariosFolder ?? (isFolder("scenarios") ? "scenarios" : undefined);
    const options = { scenariosFolder: folder, operations, openapi };
    const documentKeys = openapi?.map((one) => (typeof one === "string" ? one : this.identify(one)));
    const declarationsKey = `${this.identify(operations)} ${documentKeys}`;
    if (engine)
      return getOrAdd(this.servers, `engine ${folder} ${declarationsKey}`, () => createLocal(options));
    const url = process.env["UNDERSTUDY_URL"];
    if (url && (operations ?? openapi) !== undefined)
      throw new Error(
        `understudy's options operations and openapi do not reach the server that UNDERSTUDY_URL names; start ${url} with --operations or --openapi instead`,
      );
    return getOrAdd(
      this.servers,
      url || `${folder} ${declarationsKey}`,
      async () => connectToNamed() ?? createUnderstudy({ ...options, refuseDefault: true }),
    );
  }

  /** A number for a module or a document, which has no name of its own; 0 for none. */
  private identify(options: object | undefined): number {
    return options === undefined ? 0 : getOrAdd(this.numbers, options, () => ++this.lastNumber);
  }

  /** Returns a function that calls `end` once: after the test, or at the latest when the servers are closed. */
  endAtClose(end: () => Promise<void>): () => Promise<void> {
    const endOnce = computeOnce(() => {
      this.unfinished.delete(endOnce);
      return end();
    });
    this.unfinished.add(endOnce);
    return endOnce;
  }

  /** Also ends the tests that have timed out, which runners do not report: they are those that have not ended. */
  async close(): Promise<void> {
    // The test itself awaits the same promise, and so reports its error.
    await Promise.allSettled([...this.unfinished].map((end) => end()));
    const servers = [...this.servers.values()];
    this.servers.clear();
    // One that could not start has failed the tests that needed it.
    for (const server of servers) await (await server.catch(() => undefined))?.close();
  }
}

type TestOutcome = "passed" | "failed" | "skipped";

interface RunnerTest {
  name: string;
  /** The same for each of its attempts. */
  id?: string;
  run: (sandbox: SandboxClient) => unknown;
  /** Called after its body has run; `skipped` if the body itself skipped the test. */
  outcome: () => TestOutcome;
  /** Called when it failed, while its sandbox is still there. */
  onFailure: (sandbox: SandboxClient) => void | Promise<void>;
}

/**
 * Runs a test in a fresh sandbox. In a suite the sandbox has the suite's scenario, and is not deleted: the suite still
 * reads it.
 * @throws TypeError for options that do not exist; ControlError for values that the server refuses; Error if a rule never
 * triggered, or something is still held
 */
export async function runInSandbox(
  servers: TestServers,
  options: TestOptions,
  test: RunnerTest,
): Promise<void> {
  const { allowUntriggered, scenarios = [], ...others } = checkTestOptions(options);
  const { scenariosFolder, engine, operations, openapi, ...world } = others;
  const client = await servers.getServer({ scenariosFolder, engine, operations, openapi });
  // A suite cannot see sandboxes of this process.
  const suite = engine ? undefined : readSuiteShare();
  const { share } = suite ?? {};
  const sandbox = await client.sandbox({
    origin: !engine && (share?.origin ?? !process.env["UNDERSTUDY_URL"]),
    ...(share && { name: `${share.sandbox}--${randomBytes(4).toString("hex")}`, ...share.world }),
    ...world,
    scenarios: [...(share?.scenarios ?? []), ...scenarios],
  });
  // The newest inline rule goes first (interfaces.md 6), so the last of the scenario is armed first.
  for (const rule of share?.rules.toReversed() ?? []) await sandbox.faults.add(rule);
  let problem: string | undefined;
  const getOutcome = () => (problem === undefined ? test.outcome() : "failed");
  const end = servers.endAtClose(async () => {
    const outcome = getOutcome();
    try {
      if (outcome === "failed") await unlessDeleted(() => test.onFailure(sandbox));
    } finally {
      const { id, name } = test;
      if (outcome !== "skipped") suite?.recordTest({ id, name, sandbox: sandbox.name, outcome });
      if (suite === undefined) await unlessDeleted(sandbox.delete);
    }
  });
  try {
    await test.run(sandbox);
    const suiteNames = [...(share?.scenarios ?? []), ...(share?.rules ?? []).map(({ id }) => id!)];
    if (getOutcome() === "passed")
      problem = await unlessDeleted(async () => {
        const unreleased = describeUnreleased((await sandbox.held.list()).items);
        if (unreleased !== undefined || allowUntriggered) return unreleased;
        return describeTooFewHits(await listArmedRules(sandbox, new Set(suiteNames)));
      });
  } catch (error) {
    // The test's own error is the reason, also if its journal cannot be shown.
    await end().catch(() => {});
    throw error;
  }
  await end();
  if (problem !== undefined) throw new Error(problem);
}

/** Resolves with undefined if the sandbox is gone: a test may delete it itself. */
async function unlessDeleted<T>(use: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await use();
  } catch (error) {
    const problem = error instanceof ControlError ? error.problem.type : undefined;
    if (problem !== "urn:understudy:problem:unknown-sandbox") throw error;
    return undefined;
  }
}

/** The clients of requests that are still held wait for their answers (interfaces.md 20). */
function describeUnreleased(held: readonly Held[]): string | undefined {
  if (held.length === 0) return undefined;
  const heldTexts = held.map(describeHeld).join("; ");
  return `still held at the end of the test: ${heldTexts}. Release each: (await sandbox.held.next()).release(), or sandbox.held.release(id)`;
}

type LabelledRule = FaultRule & { label: string };

/** Inline rules, and those of active scenarios; the suite itself checks its own rules. */
async function listArmedRules(sandbox: SandboxClient, except: ReadonlySet<string>): Promise<LabelledRule[]> {
  const [inline, scenarios] = await Promise.all([sandbox.faults.list(), sandbox.scenarios.list()]);
  const current = scenarios.items.filter(({ name, active }) => active && !except.has(name));
  const addLabel = (rule: FaultRule, name: string): LabelledRule => ({
    ...rule,
    label: `${name} ${JSON.stringify(rule.match ?? {})}`,
  });
  return [
    ...inline.items.filter(({ id }) => !except.has(id)).map((rule) => addLabel(rule, rule.id)),
    ...current.flatMap(({ name, rules }) => rules.map((rule) => addLabel(rule, `${name}/${rule.id}`))),
  ];
}

/**
 * A rule that was not triggered as often as its `times` say proves nothing. Probability 0 disables a rule, and one that
 * serves a path of its own only waits for calls.
 */
export function describeTooFewHits(rules: readonly LabelledRule[]): string | undefined {
  const armed = rules.filter(
    (rule) => rule.probability !== 0 && findServedKind(rule as RuleDocument) !== "content",
  );
  const neverTriggered = armed.filter(({ hits }) => hits === 0).map(({ label }) => label);
  const notUsedUp = armed
    .filter(({ hits, times, spent }) => hits > 0 && !spent && times !== undefined && hits < times)
    .map(({ label, hits, times }) => `${label} triggered ${hits} of ${times} times`);
  const lines = [
    ...(neverTriggered.length > 0 ? [`armed but never triggered: ${neverTriggered.join("; ")}`] : []),
    ...(notUsedUp.length > 0 ? [`armed but not used up: ${notUsedUp.join("; ")}`] : []),
  ];
  return lines.length === 0 ? undefined : lines.join(". ");
}

export interface TestSandboxes {
  /**
   * For runners without our fixtures: the function to pass to their `test`. The body gets a fresh sandbox, then the
   * arguments of the runner, such as the `t` of node:test. A failure prints the journal to standard error; a rule that
   * was never triggered is a failure.
   */
  with<Args extends unknown[]>(
    body: (sandbox: SandboxClient, ...args: Args) => unknown,
    more?: TestOptions,
  ): (...args: Args) => Promise<void>;
  /** For the runner's `after` or `afterAll`: ends the server if the tests started it. */
  close(): Promise<void>;
}

/**
 * A fresh sandbox per test in any runner (interfaces.md 13): on the suite's server, on the server that `UNDERSTUDY_URL`
 * names, else in this process.
 * @throws TypeError for options that do not exist
 */
export function testSandboxes(options: TestOptions = {}): TestSandboxes {
  checkTestOptions(options);
  const servers = new TestServers();
  return {
    with(body, more = {}) {
      checkTestOptions(more);
      const failures: { name: string; args: unknown[]; id: string }[] = [];
      // Runners count a function's parameters to find out whether it takes a callback.
      return async function (this: unknown, ...args) {
        const name = getTestName(args[0], this);
        // Runners retry a failed test by calling it again with the same arguments. Rows of a table differ in them.
        const isSame = (one: unknown, at: number) => one === args[at];
        const failure = failures.find((one) => one.name === name && one.args.every(isSame));
        const id =
          name === UNNAMED
            ? undefined
            : (identifyByFile(args[0], name) ?? failure?.id ?? randomBytes(8).toString("hex"));
        let outcome: TestOutcome = "failed";
        const skipped = watchSkips(args[0]);
        await runInSandbox(
          servers,
          { ...options, ...more },
          {
            name,
            ...(id !== undefined && { id }),
            run: async (sandbox) => {
              await body(sandbox, ...args);
              outcome = "passed";
            },
            // Some runners skip by an exception.
            outcome: () => (skipped() ? "skipped" : outcome),
            onFailure: async (sandbox) =>
              void process.stderr.write(`${name}\n${await formatJournal(sandbox)}\n`),
          },
        ).catch((error: unknown) => {
          if (id !== undefined) failures.push({ name, args, id });
          throw error;
        });
      };
    },
    close: () => servers.close(),
  };
}
