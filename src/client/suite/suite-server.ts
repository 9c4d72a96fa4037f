import type { Scenario } from "../../engine/faults/scenario.ts";
import { isEqual } from "../../engine/maps.ts";
import { assemble } from "../../understudy.ts";
import { connect, type UnderstudyClient } from "../connect.ts";
import type { SandboxClient } from "../sandbox.ts";
import type { RuleDefinition, SandboxOptions, ScenarioName, ScenarioState } from "../types.ts";
import type { RuleOutcome } from "./suite-result.ts";

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
  static async start({
    files = [],
    scenariosFolder,
  }: {
    files?: readonly string[];
    scenariosFolder?: string | undefined;
  } = {}): Promise<SuiteServer> {
    const understudy = assemble({ scenariosFolder, refuseDefault: true });
    for (const file of files) understudy.scenarios.addFile(file);
    const url = await understudy.listen(0, "127.0.0.1");
    return new SuiteServer(connect(url), () => understudy.close());
  }

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

  /** Whether the server activates the scenario by its name. A server elsewhere gets the rules, unless there are stages. */
  isActivatedByName({ stages }: Scenario): boolean {
    return this.isLocal || stages.length > 0;
  }

  async open(options: SuiteSandboxOptions, scenario: Scenario): Promise<SandboxClient> {
    if (this.isActivatedByName(scenario)) {
      const scenarios = [scenario.name as ScenarioName];
      // `origin`: a port of its own, which a server elsewhere might not open to this machine.
      return this.client.sandbox({ ...options, scenarios, ...(this.isLocal && { origin: true }) });
    }
    const sandbox = await this.client.sandbox(options);
    try {
      // The newest inline rule goes first (interfaces.md 6), so the last of the file is armed first.
      for (const rule of toRules(scenario).toReversed()) await sandbox.faults.add(rule);
      return sandbox;
    } catch (error) {
      await sandbox.delete();
      throw error;
    }
  }

  /** The environment variables of a command that tests in the sandbox (interfaces.md 2). */
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

  async countHits(sandbox: SandboxClient, scenario: Scenario): Promise<RuleOutcome[]> {
    const { name, rules } = scenario;
    const armed = this.isActivatedByName(scenario)
      ? (await sandbox.scenarios.list()).items.find((one) => one.name === name)?.rules
      : (await sandbox.faults.list()).items;
    // A reset by the application removes inline rules: a missing rule counts as not triggered since.
    return rules.map(({ id }) => ({ id, hits: armed?.find((rule) => rule.id === id)?.hits ?? 0 }));
  }
}

function isSameScenario({ rules, stages = [] }: ScenarioState, scenario: Scenario): boolean {
  // Hits, and the end of a lease, are left out: they change after the activation. JSON drops undefined fields.
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
