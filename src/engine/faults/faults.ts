import { isPath } from "../../documents/find-files.ts";
import { RecentNames } from "../../documents/recent-names.ts";
import { ScenarioLibrary, scenarioFolders } from "../../documents/scenario-library.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { TimerKind } from "../state/timers.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { readInlineRule } from "./rules/read-rule.ts";
import { type FaultParts, SandboxFaults } from "./sandbox-faults.ts";

export interface FaultOptions extends Omit<FaultParts, "library" | "names" | "base"> {
  /** Scenarios of the first sandbox, by name or file. */
  scenarios?: readonly string[] | undefined;
  /** The user's own scenarios, beside the shipped ones. */
  scenariosFolder?: string | undefined;
  /** By how much every answer of every sandbox is late, as in a rule's effect. */
  delay?: EffectDocument["delay"] | undefined;
}

/** The faults of a server: its scenarios, and what is armed in each sandbox. */
export class Faults {
  readonly library: ScenarioLibrary;
  /** The names of the scenarios that the options gave. */
  readonly named: readonly string[];
  /** By how much every answer of every sandbox is late, where the server was started so. */
  readonly delay: EffectDocument["delay"];
  private readonly parts: FaultParts;
  private readonly sandboxes = new WeakMap<Sandbox, SandboxFaults>();

  /** @throws DocumentError for a scenario's file that cannot be used */
  constructor({ scenarios = [], scenariosFolder, delay, ...parts }: FaultOptions) {
    const library = new ScenarioLibrary({
      api: parts.api,
      folders: scenarioFolders(scenariosFolder),
    });
    this.library = library;
    this.delay = delay;
    const base = delay === undefined ? [] : [readInlineRule({ effect: { delay } }, parts.api, () => "delay")];
    this.parts = { ...parts, base, library, names: new RecentNames(library) };
    this.named = scenarios.map((scenario) => (isPath(scenario) ? library.addFile(scenario).name : scenario));
  }

  of(sandbox: Sandbox): SandboxFaults {
    let faults = this.sandboxes.get(sandbox);
    if (faults === undefined) {
      faults = new SandboxFaults(this.parts, sandbox);
      this.sandboxes.set(sandbox, faults);
    }
    return faults;
  }

  /** Ends leases when they are due. */
  timers(sandbox: Sandbox): Partial<Record<TimerKind, TimerHandler>> {
    return {
      lease: (_tx, { key, subject }) => {
        const faults = this.of(sandbox);
        return async () => faults.leaseEnded(key ?? subject);
      },
    };
  }
}
