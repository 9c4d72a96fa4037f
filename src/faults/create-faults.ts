import { isAbsolute } from "node:path";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { TimerKind } from "../state/timers.ts";
import type { TimerHandler } from "../state/world.ts";
import { type FaultParts, SandboxFaults } from "./sandbox-faults.ts";
import { ScenarioLibrary, scenarioFolders } from "./scenario-library.ts";

export interface FaultOptions extends Omit<FaultParts, "library"> {
  /** Scenarios of the first sandbox, by name or file. */
  scenarios?: readonly string[];
  /** The user's own scenarios, beside the shipped ones. */
  scenariosFolder?: string;
}

export interface Faults {
  library: ScenarioLibrary;
  /** The names of the scenarios that the options gave. */
  named: readonly string[];
  ofSandbox: (sandbox: () => Sandbox) => SandboxFaults;
  /** Ends leases when they are due. */
  timers: (sandbox: () => Sandbox) => Partial<Record<TimerKind, TimerHandler>>;
}

/**
 * The server's part of all faults: its scenarios, and how a sandbox comes to faults of its own.
 * @throws DocumentError for a scenario's file that cannot be used
 */
export function createFaults({ scenarios = [], scenariosFolder, ...parts }: FaultOptions): Faults {
  const { operations } = parts;
  const library = new ScenarioLibrary({ operations, folders: scenarioFolders(scenariosFolder) });
  return {
    library,
    named: scenarios.map((scenario) => (isFile(scenario) ? library.addFile(scenario).name : scenario)),
    ofSandbox: (sandbox) => new SandboxFaults({ ...parts, library }, sandbox),
    timers: (sandbox) => ({
      lease: (_tx, { key, subject }) => {
        const { faults } = sandbox();
        return async () => faults.leaseEnded?.(key ?? subject) ?? false;
      },
    }),
  };
}

/** `./mine.yaml` and `suite/outage.yaml` are files, `outage` is a name. */
function isFile(scenario: string): boolean {
  return /[\\/]/.test(scenario) || isAbsolute(scenario) || /\.(ya?ml|json)$/i.test(scenario);
}
