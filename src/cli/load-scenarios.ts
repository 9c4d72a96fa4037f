import type { Scenario } from "../faults/scenarios/scenario.ts";
import { ScenarioLibrary } from "../faults/scenarios/scenario-library.ts";
import { API } from "../resources/index.ts";
import { UsageError } from "./failure.ts";
import { filesOf } from "./files-of.ts";

/**
 * The scenarios of files and globs, in their order.
 * @throws UsageError, DocumentError
 */
export function loadScenarios(patterns: readonly string[]): { file: string; scenario: Scenario }[] {
  const library = new ScenarioLibrary({ api: API });
  const loaded = filesOf(patterns).map((file) => ({ file, scenario: library.addFile(file) }));
  const byName = new Map<string, string>();
  for (const { file, scenario } of loaded) {
    const other = byName.get(scenario.name);
    if (other !== undefined) throw new UsageError(`${other} and ${file} are both called ${scenario.name}`);
    byName.set(scenario.name, file);
  }
  return loaded;
}
