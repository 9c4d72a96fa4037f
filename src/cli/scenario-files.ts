import { existsSync } from "node:fs";
import picomatch from "picomatch";
import { stringify } from "yaml";
import { readFileText } from "../documents/files.ts";
import { ScenarioLibrary, scenarioFolders, showDerived } from "../documents/scenario-library.ts";
import { MAX_SCENARIO_BYTES, type Scenario } from "../engine/faults/scenario.ts";
import { API } from "../engine/resources/index.ts";
import { expandFiles } from "./expand-files.ts";
import { UsageError } from "./failure.ts";
import { print } from "./output.ts";
import { ownScenarios } from "./own-scenarios.ts";

/** A scenario and its file as the user wrote it, or as lists show it. */
export interface NamedScenario {
  file: string;
  scenario: Scenario;
}

/**
 * The scenarios of files, names and globs of either, in their order.
 * @throws UsageError, DocumentError
 */
export function loadScenarios(patterns: readonly string[]): NamedScenario[] {
  const library = new ScenarioLibrary({ api: API, folders: scenarioFolders(ownScenarios()) });
  const byFile = new Map<string, NamedScenario>();
  for (const found of patterns.flatMap((pattern) => findScenarios(pattern, library)))
    byFile.set(found.file, found);
  const byName = new Map<string, string>();
  for (const { file, scenario } of byFile.values()) {
    const other = byName.get(scenario.name);
    if (other !== undefined) throw new UsageError(`${other} and ${file} are both called ${scenario.name}`);
    byName.set(scenario.name, file);
  }
  return [...byFile.values()];
}

/**
 * Prints a scenario as YAML, by its name.
 * @throws UnknownScenario, DocumentError for a file that cannot be read
 */
export function showScenario(name: string, json: boolean): void {
  const library = new ScenarioLibrary({ api: API, folders: scenarioFolders(ownScenarios()) });
  const { files } = library;
  // A file that cannot be used is shown all the same.
  const file = files.find(name)?.file;
  if (file === undefined) {
    const text = stringify(library.get(name).document);
    print(json, { name, file: showDerived(name), text }, text.trimEnd());
    return;
  }
  const shown = files.shown(file);
  const { text } = readFileText(file, { shown, noun: "scenario", maxBytes: MAX_SCENARIO_BYTES });
  print(json, { name, file: shown, text }, text.trimEnd());
}

/** A file goes before a name, and the user's own scenario before the shipped or derived one of the same name. */
function findScenarios(pattern: string, library: ScenarioLibrary): NamedScenario[] {
  const matches = pattern === "" || existsSync(pattern) ? () => false : picomatch(pattern);
  const listed = library.list().filter(({ name }) => matches(name));
  if (listed.length > 0) {
    const own = listed.filter(({ origin }) => origin === "own");
    const others = listed.filter(({ origin }) => origin !== "own");
    return [...own, ...others].map(({ name, file }) => ({ file, scenario: library.get(name) }));
  }
  try {
    return expandFiles([pattern]).map((file) => ({ file, scenario: library.addFile(file) }));
  } catch (error) {
    if (!(error instanceof UsageError) || /[\\/.]/.test(pattern)) throw error;
    throw new UsageError(
      `no scenario and no file is called ${pattern}; \`understudy scenario list\` has the names`,
    );
  }
}
