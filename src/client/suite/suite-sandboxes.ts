import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExpectDocument } from "../../engine/faults/rule-document.ts";
import type { Scenario } from "../../engine/faults/scenario.ts";
import { assemble } from "../../understudy.ts";
import { connect, type UnderstudyClient } from "../connect.ts";
import { ControlError } from "../http.ts";
import { type CountExpectation, countText, nearestText } from "../received.ts";
import type { SandboxClient } from "../sandbox.ts";
import { isOfSuite, notedTests, type SuiteShare, type SuiteTest } from "../suite-share.ts";
import type { ClockChange, FixtureInput, RuleDefinition, ScenarioName, Verification } from "../types.ts";
import type { ExpectationOutcome, RuleOutcome, SuiteRequest } from "./suite-result.ts";

const MAX_ENTRIES = 1000;

/** The file with which a scenario's run tells the runner fixtures of itself, and they of their tests. */
export class ShareFile {
  readonly path: string;
  private readonly folder = mkdtempSync(join(tmpdir(), "understudy-suite-"));

  constructor(share: SuiteShare) {
    this.path = join(this.folder, "suite.json");
    writeFileSync(this.path, JSON.stringify(share), { mode: 0o600 });
  }

  tests(): SuiteTest[] {
    return notedTests(this.path);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The sandboxes of one scenario's run: the suite's own, then those of tests; the questions go to all of them. */
export class SuiteSandboxes {
  readonly all: readonly SandboxClient[];
  private readonly server: SuiteServer;
  private readonly scenario: Scenario;

  private constructor(server: SuiteServer, scenario: Scenario, all: readonly SandboxClient[]) {
    this.server = server;
    this.scenario = scenario;
    this.all = all;
  }

  /** As they are once the command has ended. */
  static async of(own: SandboxClient, server: SuiteServer, scenario: Scenario): Promise<SuiteSandboxes> {
    const names = (await server.client.list()).map(({ name }) => name);
    const ofTests = names.filter((name) => name !== own.name && isOfSuite(name, own.name));
    const opened = await Promise.all(ofTests.map((name) => server.client.open(name)));
    return new SuiteSandboxes(server, scenario, [own, ...opened]);
  }

  /** How often each rule has struck, wherever. */
  async hits(): Promise<RuleOutcome[]> {
    const each = await Promise.all(this.all.map((sandbox) => this.server.hits(sandbox, this.scenario)));
    const [own = []] = each;
    return own.map(({ id }) => ({
      id,
      hits: each.flat().reduce((sum, rule) => sum + (rule.id === id ? rule.hits : 0), 0),
    }));
  }

  async judge({ match, count, description }: ExpectDocument): Promise<ExpectationOutcome> {
    const wanted: CountExpectation["count"] = count ?? { min: 1 };
    const many = countText(wanted);
    const what =
      description === undefined ? `${many} of ${JSON.stringify(match)}` : `${description} (${many})`;
    try {
      const asked = { match, count: wanted } as CountExpectation;
      const each = await Promise.all(this.all.map((sandbox) => sandbox.journal.verify(asked)));
      const found = each.reduce((sum, one) => sum + one.found, 0);
      if (fits(found, wanted)) return { what, ok: true, found };
      return {
        what,
        ok: false,
        found,
        why: `expected ${what}, found ${found}${nearestText(findNearest(each))}`,
      };
    } catch (error) {
      if (!(error instanceof ControlError)) throw error;
      return { what, ok: false, found: 0, why: `expected ${what}, but: ${error.message}` };
    }
  }

  /** Oldest first in each. */
  async journal(tests: readonly SuiteTest[]): Promise<{ requests: number; journal: SuiteRequest[] }> {
    const nameOf = new Map(tests.map(({ sandbox, name }) => [sandbox, name]));
    const pages = await Promise.all(
      this.all.map((sandbox) => sandbox.journal.list({ kind: "request", limit: MAX_ENTRIES })),
    );
    const journal = pages.flatMap(({ entries }, position) => {
      const test = nameOf.get(this.all[position]!.name) ?? null;
      return entries.toReversed().map((entry) => ({ ...entry, test }));
    });
    return { requests: pages.reduce((sum, { total }) => sum + total, 0), journal };
  }

  /** Of the first failed test; without one, of the sandbox that was asked at all. */
  async bundle(tests: readonly SuiteTest[]): Promise<object | undefined> {
    const failed = tests.find(({ outcome }) => outcome === "failed");
    const [own] = this.all;
    const sandbox = this.all.find(({ name }) => name === failed?.sandbox) ?? own!;
    return sandbox.bundle().catch((error: unknown) => {
      if (error instanceof ControlError) return undefined;
      throw error;
    });
  }
}

function fits(found: number, count: CountExpectation["count"]): boolean {
  if (typeof count === "number") return found === count;
  return found >= (count.min ?? 0) && found <= (count.max ?? Number.POSITIVE_INFINITY);
}

function findNearest(each: readonly Verification[]): Verification["nearest"] {
  return each
    .flatMap(({ nearest }) => nearest)
    .sort((a, b) => a.differences.length - b.differences.length)
    .slice(0, 1);
}

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
