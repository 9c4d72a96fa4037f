import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { connect, type UnderstudyClient } from "./connect.ts";
import { createUnderstudy } from "./create-understudy.ts";
import { journalText } from "./evidence.ts";
import type { SandboxClient } from "./sandbox.ts";
import { suiteShare } from "./suite-share.ts";
import type { ClockChange, FaultRule, FixtureInput, ScenarioName, SettingsChange } from "./types.ts";

/** The world that a test begins with (interfaces 13), by `test.use`, `test.extend` or the runner's configuration. */
export interface TestOptions {
  /** The name of a fixture, one of `./fixtures` too, or a fixture itself. */
  fixture?: FixtureInput;
  seed?: number;
  /** Where the sandbox's clock begins, also in the past: `{ mode: "frozen", now: "2020-02-29T12:00:00Z" }`. */
  clock?: ClockChange;
  settings?: SettingsChange;
  /** In force from the start; in a suite beside the suite's own. */
  scenarios?: readonly ScenarioName[];
  /** Your own scenarios, `./scenarios` unless given; of a server that `UNDERSTUDY_URL` names, its `--scenarios`. */
  scenariosFolder?: string;
  /** Rules that never struck, or less often than their `times` say, do not fail the test. */
  allowUnstruck?: boolean;
}

const KEYS: Readonly<Record<keyof TestOptions, true>> = {
  fixture: true,
  seed: true,
  clock: true,
  settings: true,
  scenarios: true,
  scenariosFolder: true,
  allowUnstruck: true,
};

/**
 * Checks options at run time, for tests without a compiler; the server checks their values.
 * @throws TypeError
 */
export function checkTestOptions(options: unknown): TestOptions {
  const known = Object.keys(KEYS).join(", ");
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(
      `understudy takes its options as an object of ${known}; it was given ${shown(options)}`,
    );
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(KEYS, key)) continue;
    throw new TypeError(`understudy has no option ${JSON.stringify(key)}; its options are ${known}`);
  }
  const { scenarios, scenariosFolder, allowUnstruck } = options as Record<string, unknown>;
  if (scenarios !== undefined && !Array.isArray(scenarios))
    throw new TypeError(`understudy's option scenarios is a list of names; it was given ${shown(scenarios)}`);
  if (allowUnstruck !== undefined && typeof allowUnstruck !== "boolean")
    throw new TypeError(
      `understudy's option allowUnstruck is true or false; it was given ${shown(allowUnstruck)}`,
    );
  if (scenariosFolder !== undefined && !(typeof scenariosFolder === "string" && existsSync(scenariosFolder)))
    throw new TypeError(`understudy's option scenariosFolder: there is no folder ${shown(scenariosFolder)}`);
  return options;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}

export interface TestServer {
  understudy: UnderstudyClient;
  close(): Promise<void>;
}

/** The servers of a worker, each started when a test first needs it. */
export class TestServers {
  private readonly servers = new Map<string | undefined, Promise<TestServer>>();

  /** The one that a suite or `UNDERSTUDY_URL` names, else one of the tests' own, which knows that folder's scenarios. */
  of(scenariosFolder: string | undefined): Promise<TestServer> {
    const running = process.env["UNDERSTUDY_URL"] || undefined;
    const folder = running === undefined ? (scenariosFolder ?? ownFolder()) : undefined;
    const known = this.servers.get(folder);
    if (known !== undefined) return known;
    const server = running === undefined ? started(folder) : Promise.resolve(connected(running));
    this.servers.set(folder, server);
    return server;
  }

  async close(): Promise<void> {
    for (const server of this.servers.values()) await (await server).close();
  }
}

const ownFolder = () => (existsSync("scenarios") ? "scenarios" : undefined);

async function started(scenariosFolder: string | undefined): Promise<TestServer> {
  const understudy = await createUnderstudy(scenariosFolder === undefined ? {} : { scenariosFolder });
  return { understudy, close: () => understudy.close() };
}

const connected = (url: string): TestServer => ({ understudy: connect(url), close: async () => {} });

/** A test's sandbox, and what is to be said of it in the end. */
export interface TestSandbox {
  sandbox: SandboxClient;
  /** One sentence about the rules that never struck; undefined if all did. */
  unstruck(): Promise<string | undefined>;
  /** Deletes it, unless it belongs to a suite, which still has questions to it. */
  end(outcome: "passed" | "failed"): Promise<void>;
}

/**
 * A fresh sandbox for a test; in a suite one like the suite's own, with its scenario.
 * @throws TypeError for options that do not exist; ControlError for values that the server refuses
 */
export async function openTestSandbox(
  servers: TestServers,
  given: TestOptions,
  testName: string,
): Promise<TestSandbox> {
  const { scenariosFolder, allowUnstruck, scenarios = [], ...world } = checkTestOptions(given);
  const { understudy } = await servers.of(scenariosFolder);
  const suite = suiteShare();
  const inSuite = suite && {
    ...suite.share,
    name: `${suite.share.sandbox}--${randomBytes(4).toString("hex")}`,
  };
  const sandbox = await understudy.sandbox({
    ...(inSuite && { name: inSuite.name, ...inSuite.world }),
    ...world,
    scenarios: [...(inSuite?.scenarios ?? []), ...scenarios],
  });
  // The newest inline rule goes first (interfaces 6), so the last of the scenario is armed first.
  for (const rule of inSuite?.rules.toReversed() ?? []) await sandbox.faults.add(rule);
  return {
    sandbox,
    unstruck: async () => {
      if (allowUnstruck) return undefined;
      const ofSuite = new Set<string>([
        ...(inSuite?.scenarios ?? []),
        ...(inSuite?.rules ?? []).map(({ id }) => id!),
      ]);
      return unstruckText(await armedRules(sandbox, ofSuite));
    },
    end: async (outcome) => {
      suite?.note({ name: testName, sandbox: sandbox.name, outcome });
      if (suite === undefined) await sandbox.delete();
    },
  };
}

/** A rule with its name for messages. */
type Armed = FaultRule & { named: string };

/** Inline rules, and those of scenarios in force; whether the suite's strike is the suite's to judge. */
async function armedRules(sandbox: SandboxClient, except: ReadonlySet<string>): Promise<Armed[]> {
  const [inline, scenarios] = await Promise.all([sandbox.faults.list(), sandbox.scenarios.list()]);
  const inForce = scenarios.items.filter(({ name, active }) => active && !except.has(name));
  const named = (rule: FaultRule, name: string): Armed => ({
    ...rule,
    named: `${name} ${JSON.stringify(rule.match ?? {})}`,
  });
  return [
    ...inline.items.filter(({ id }) => !except.has(id)).map((rule) => named(rule, rule.id)),
    ...inForce.flatMap(({ name, rules }) => rules.map((rule) => named(rule, `${name}/${rule.id}`))),
  ];
}

/** A rule that never struck, or less often than it was meant to, proves nothing. Probability 0 is off. */
export function unstruckText(rules: readonly Armed[]): string | undefined {
  const armed = rules.filter(({ probability }) => probability !== 0);
  const never = armed.filter(({ hits }) => hits === 0).map(({ named }) => named);
  const left = armed
    .filter(({ hits, times, spent }) => hits > 0 && !spent && times !== undefined && hits < times)
    .map(({ named, hits, times }) => `${named} struck ${hits} of ${times} times`);
  const said = [
    ...(never.length > 0 ? [`armed but never struck: ${never.join("; ")}`] : []),
    ...(left.length > 0 ? [`armed but not used up: ${left.join("; ")}`] : []),
  ];
  return said.length === 0 ? undefined : said.join(". ");
}

export interface TestSandboxes {
  /**
   * For a runner without a fixture of ours: what its `test` is to run. The body has a fresh sandbox; a failure shows its
   * journal on standard error, and a rule that never struck is one.
   */
  with(body: (sandbox: SandboxClient) => unknown, more?: TestOptions): (...given: unknown[]) => Promise<void>;
  /** For the runner's `after` or `afterAll`: ends the server, where it is one of the tests' own. */
  close(): Promise<void>;
}

/**
 * A fresh sandbox per test in any runner (interfaces 13): on the suite's server in a suite, on the one that `UNDERSTUDY_URL`
 * names, else on one in this process.
 * @throws TypeError for options that do not exist
 */
export function testSandboxes(options: TestOptions = {}): TestSandboxes {
  checkTestOptions(options);
  const servers = new TestServers();
  return {
    with(body, more = {}) {
      checkTestOptions(more);
      // Runners count a function's parameters, to tell whether it takes a callback.
      return async (...given) => {
        const name = testName(given[0]);
        const opened = await openTestSandbox(servers, { ...options, ...more }, name);
        let outcome: "passed" | "failed" = "failed";
        try {
          await body(opened.sandbox);
          const unstruck = await opened.unstruck();
          if (unstruck !== undefined) throw new Error(unstruck);
          outcome = "passed";
        } finally {
          if (outcome === "failed") process.stderr.write(`${name}\n${await journalText(opened.sandbox)}\n`);
          await opened.end(outcome);
        }
      };
    },
    close: () => servers.close(),
  };
}

/** The test's name, as node:test passes it to the body, or as Jest knows it. */
function testName(context: unknown): string {
  const { fullName, name } = (context ?? {}) as { fullName?: string; name?: string };
  const { expect } = globalThis as { expect?: { getState?: () => { currentTestName?: string } } };
  return fullName ?? name ?? expect?.getState?.().currentTestName ?? "a test";
}
