import type { Scenario } from "../../engine/faults/scenario.ts";
import { assemble } from "../../understudy.ts";
import { connect, type UnderstudyClient } from "../connect.ts";
import type { SandboxClient } from "../sandbox.ts";
import type { ClockChange, FixtureInput, RuleDefinition, ScenarioName } from "../types.ts";
import type { RuleOutcome } from "./suite-result.ts";

export interface SandboxWish {
  name: string;
  scenario: Scenario;
  fixture?: FixtureInput | undefined;
  seed?: number | undefined;
  clock?: ClockChange | undefined;
}

/** Where the sandboxes of a suite live. */
export interface SuiteServer {
  url: string;
  token: string | undefined;
  client: UnderstudyClient;
  /** Whether it knows the scenarios by their names. */
  hasFiles: boolean;
  /** A fresh sandbox with the scenario in force. */
  open(wish: SandboxWish): Promise<SandboxClient>;
  /** How often each rule has struck. */
  hits(sandbox: SandboxClient, scenario: Scenario): Promise<RuleOutcome[]>;
  close(): Promise<void>;
}

/** A server in this process, which reads these files and knows every other scenario by name. */
export async function ownServer(
  files: readonly string[],
  scenariosFolder: string | undefined,
): Promise<SuiteServer> {
  const understudy = assemble(scenariosFolder === undefined ? {} : { scenariosFolder });
  for (const file of files) understudy.scenarios.addFile(file);
  const url = await understudy.listen(0, "127.0.0.1");
  const client = connect(url);
  return {
    url,
    token: undefined,
    client,
    hasFiles: true,
    open: ({ scenario, ...wish }) => client.sandbox({ ...wish, scenarios: [scenario.name as ScenarioName] }),
    async hits(sandbox, scenario) {
      const { items } = await sandbox.scenarios.list();
      const own = items.find(({ name }) => name === scenario.name);
      return (own?.rules ?? []).map(({ id, hits }) => ({ id, hits }));
    },
    close: () => understudy.close(),
  };
}

/** One that runs elsewhere. It does not have the files, so their rules go there one by one. */
export function foreignServer(url: string, token: string | undefined): SuiteServer {
  const client = connect(url, token === undefined ? {} : { token });
  return {
    url: client.url,
    token: client.http.token,
    client,
    hasFiles: false,
    async open({ scenario, ...wish }) {
      const sandbox = await client.sandbox(wish);
      try {
        // The newest inline rule goes first (interfaces 6), so the last of the file is armed first.
        for (const rule of toRules(scenario).toReversed()) await sandbox.faults.add(rule);
        return sandbox;
      } catch (error) {
        await sandbox.delete();
        throw error;
      }
    },
    async hits(sandbox, scenario) {
      const { items } = await sandbox.faults.list();
      const hitsOf = new Map(items.map(({ id, hits }) => [id, hits]));
      // A reset by the application takes inline rules away: one that is gone has not struck since.
      return scenario.rules.map(({ id }) => ({ id, hits: hitsOf.get(id) ?? 0 }));
    },
    close: async () => {},
  };
}

/** For a server that does not have the scenario's file. */
export function toRules({ rules }: Scenario): RuleDefinition[] {
  return rules.map(({ id, document }) => ({ ...document, id }) as RuleDefinition);
}
