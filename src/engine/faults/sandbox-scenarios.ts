import type { Sandbox } from "../sandbox/sandbox.ts";
import { RefusalScenarios } from "./refusal-scenarios.ts";
import type { Scenario, ScenarioNames, ScenarioSource, ScenarioUser } from "./scenario.ts";

/** The scenarios that a sandbox can activate: the server's, and those derived from the operations that it alone has. */
export class SandboxScenarios implements ScenarioSource {
  private readonly server: ScenarioSource;
  private readonly sandbox: Pick<Sandbox, "own">;
  private last: { own: Sandbox["own"]; derived: RefusalScenarios } | undefined;

  constructor(server: ScenarioSource, sandbox: Pick<Sandbox, "own">) {
    this.server = server;
    this.sandbox = sandbox;
  }

  /** The derived scenarios of the sandbox's own operations. */
  get derived(): RefusalScenarios {
    const { own } = this.sandbox;
    if (this.last?.own !== own)
      this.last = { own, derived: new RefusalScenarios(own.flatMap(({ operations }) => operations)) };
    return this.last!.derived;
  }

  get recentNames(): ScenarioNames {
    const { derived, server } = this;
    return {
      has: (name) => derived.has(name) || server.recentNames.has(name),
      names: () => [...server.recentNames.names(), ...derived.names()],
    };
  }

  get(name: string): Scenario {
    return this.derived.find(name) ?? this.server.get(name);
  }

  lastGood(name: string): Scenario {
    return this.derived.find(name) ?? this.server.lastGood(name);
  }

  has(name: string): boolean {
    return this.derived.has(name) || this.server.has(name);
  }

  use(user: ScenarioUser): void {
    this.server.use(user);
  }

  release(user: ScenarioUser): void {
    this.server.release(user);
  }
}
