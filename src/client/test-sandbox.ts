import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { connect, type UnderstudyClient } from "./connect.ts";
import { createUnderstudy } from "./create-understudy.ts";
import type { SandboxClient } from "./sandbox.ts";
import { suiteShare } from "./suite-share.ts";
import { checkTestOptions, type TestOptions } from "./test-options.ts";
import type { FaultRule } from "./types.ts";

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
