import { existsSync } from "node:fs";
import picomatch from "picomatch";
import { filesIn, nameOfFile } from "../documents/find-files.ts";
import { readFileText } from "../documents/read-file.ts";
import { ScenarioLibrary, scenarioFolders } from "../documents/scenario-library.ts";
import { nearest } from "../engine/documents/nearest.ts";
import { MAX_SCENARIO_BYTES } from "../engine/faults/scenarios/read-scenario.ts";
import type { Scenario } from "../engine/faults/scenarios/scenario.ts";
import { API } from "../engine/resources/index.ts";
import { UnknownScenario } from "../engine/sandbox/fault-gate.ts";
import { UsageError } from "./failure.ts";
import { filesOf } from "./files-of.ts";
import { print } from "./output.ts";
import { ownScenarios } from "./own-scenarios.ts";

/**
 * The scenarios of files, names and globs of either, in their order.
 * @throws UsageError, DocumentError
 */
export function loadScenarios(patterns: readonly string[]): { file: string; scenario: Scenario }[] {
  const library = new ScenarioLibrary({ api: API });
  const files = new Set(patterns.flatMap(scenarioFiles));
  const loaded = [...files].map((file) => ({ file, scenario: library.addFile(file) }));
  const byName = new Map<string, string>();
  for (const { file, scenario } of loaded) {
    const other = byName.get(scenario.name);
    if (other !== undefined) throw new UsageError(`${other} and ${file} are both called ${scenario.name}`);
    byName.set(scenario.name, file);
  }
  return loaded;
}

/**
 * Prints a scenario as it is written, by its name.
 * @throws UnknownScenario, DocumentError for a file that cannot be read
 */
export function showScenario(name: string, json: boolean): void {
  const { files } = new ScenarioLibrary({ api: API, folders: scenarioFolders(ownScenarios()) });
  const file = files.find(name)?.file;
  if (file === undefined) {
    const names = files.list().map((document) => files.nameOf(document));
    throw new UnknownScenario(name, nearest(name, names));
  }
  const shown = files.shown(file);
  const { text } = readFileText(file, { shown, noun: "scenario", maxBytes: MAX_SCENARIO_BYTES });
  print(json, { name, file: shown, text }, text.trimEnd());
}

/** A file goes before a name, and so does the user's own before the shipped one of the same name. */
function scenarioFiles(pattern: string): string[] {
  const named = pattern === "" || existsSync(pattern) ? [] : filesNamed(pattern);
  if (named.length > 0) return named;
  try {
    return filesOf([pattern]);
  } catch (error) {
    if (!(error instanceof UsageError) || /[\\/.]/.test(pattern)) throw error;
    throw new UsageError(
      `no scenario and no file is called ${pattern}; \`understudy scenario list\` has the names`,
    );
  }
}

function filesNamed(pattern: string): string[] {
  const matches = picomatch(pattern);
  const byName = new Map<string, string>();
  for (const file of scenarioFolders(ownScenarios()).flatMap(filesIn)) {
    const name = nameOfFile(file);
    if (!byName.has(name) && matches(name)) byName.set(name, file);
  }
  return [...byName.values()];
}
