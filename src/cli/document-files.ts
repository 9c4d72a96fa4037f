import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import picomatch from "picomatch";
import { stringify } from "yaml";
import { isPath, readFileText } from "../documents/files.ts";
import { checkFixture } from "../documents/fixture-library.ts";
import { loadOwnSources, openOwnFiles } from "../documents/own-files.ts";
import { listScenarioFolders, nameDerivedFile, ScenarioLibrary } from "../documents/scenario-library.ts";
import type { Api } from "../engine/contract/api.ts";
import { DocumentError, type DocumentProblem, formatProblem } from "../engine/documents/document-error.ts";
import type { Warn } from "../engine/documents/user-document.ts";
import { MAX_SCENARIO_BYTES, type Scenario } from "../engine/faults/scenario.ts";
import { createJoinedApi } from "../engine/own/join.ts";
import { API } from "../engine/resources/index.ts";
import type { Result } from "./command.ts";
import { UsageError } from "./failure.ts";
import { findOwnScenarios } from "./start-options.ts";

/** Checks fixtures, given by name or by path. */
export async function checkFixtureFiles(
  patterns: readonly string[],
  ownOptions: OwnOptions,
): Promise<Result> {
  const { resources } = await readApi(ownOptions);
  const files = patterns.flatMap((pattern) => (isPath(pattern) ? expandFiles([pattern]) : [pattern]));
  return checkFiles(files, (file, warn) => checkFixture(file, { resources, warn }));
}

export async function checkScenarioFiles(
  patterns: readonly string[],
  ownOptions: OwnOptions,
): Promise<Result> {
  const api = await readApi(ownOptions);
  const filesByName = new Map<string, string>();
  return checkFiles(expandFiles(patterns), (file, warn) => {
    try {
      const { name } = new ScenarioLibrary({ api, warn }).addFile(file);
      const other = filesByName.get(name);
      if (other === undefined) filesByName.set(name, file);
      else {
        const message = `the scenario is called ${name}, as the one in ${other}; only one of them can be used`;
        warn({ file, line: 1, column: 1, field: "name", message });
      }
      return undefined;
    } catch (error) {
      if (error instanceof DocumentError) return error;
      throw error;
    }
  });
}

export type OwnOptions = Parameters<typeof openOwnFiles>[0];

/** The reference's API, with the operations of these files. */
export async function readApi(ownOptions: OwnOptions): Promise<Api> {
  const sources = await loadOwnSources(await openOwnFiles(ownOptions));
  return sources.length === 0 ? API : createJoinedApi(sources).api;
}

type Check = (file: string, warn: Warn) => DocumentError | undefined;

function checkFiles(files: readonly string[], check: Check): Result {
  const results = files.map((file) => {
    const warnings: DocumentProblem[] = [];
    return { file, error: check(file, (warning) => void warnings.push(warning)), warnings };
  });
  const broken = results.filter(({ error }) => error !== undefined).length;
  const items = results.map(({ file, error, warnings }) => ({
    file,
    ok: error === undefined,
    problems: error?.problems ?? [],
    warnings,
  }));
  const lines = results.flatMap(({ file, error, warnings }) => [
    ...warnings.map((warning) => `warning: ${formatProblem(warning)}`),
    error?.formatWithFrames() ?? `${file}: ok`,
  ]);
  return {
    value: { items, total: files.length, ok: broken === 0 },
    text: [...lines, `${files.length} checked, ${broken} with problems`].join("\n"),
    failed: broken > 0,
  };
}

/** A scenario and the path of its file: as the user typed it, or for one given by name, as `scenario list` shows it. */
interface NamedScenario {
  file: string;
  scenario: Scenario;
}

/** All scenarios that a command can name. */
const openLibrary = () =>
  new ScenarioLibrary({ api: API, folders: listScenarioFolders(findOwnScenarios(undefined)) });

/**
 * The scenarios of files, names and globs of either, in their order.
 * @throws UsageError, DocumentError
 */
export function loadScenarios(patterns: readonly string[]): NamedScenario[] {
  const library = openLibrary();
  const matches = patterns.flatMap((pattern) => findScenarios(pattern, library));
  const scenarios = [...new Map(matches.map((one) => [resolve(one.file), one])).values()];
  const byName = new Map<string, string>();
  for (const { file, scenario } of scenarios) {
    const other = byName.get(scenario.name);
    if (other !== undefined) throw new UsageError(`${other} and ${file} are both called ${scenario.name}`);
    byName.set(scenario.name, file);
  }
  return scenarios;
}

/**
 * A scenario as YAML, by its name; also one whose file has problems.
 * @throws UnknownScenarioError, DocumentError for a file that cannot be read
 */
export function showScenario(name: string): Result {
  const library = openLibrary();
  const { files } = library;
  const file = files.find(name)?.file;
  const displayName = file === undefined ? nameDerivedFile(name) : files.showPath(file);
  const text =
    file === undefined
      ? stringify(library.get(name).document)
      : readFileText(file, { displayName, noun: "a scenario", maxBytes: MAX_SCENARIO_BYTES }).text;
  return { value: { name, file: displayName, text }, text: text.trimEnd() };
}

/** A file takes precedence over names; of the scenarios that match, the user's own come first. */
function findScenarios(pattern: string, library: ScenarioLibrary): NamedScenario[] {
  const isMatch = pattern === "" || existsSync(pattern) ? () => false : picomatch(pattern);
  const matching = library.list().filter(({ name }) => isMatch(name));
  if (matching.length > 0) {
    const ownScenarios = matching.filter(({ origin }) => origin === "own");
    const others = matching.filter(({ origin }) => origin !== "own");
    return [...ownScenarios, ...others].map(({ name, file }) => ({ file, scenario: library.get(name) }));
  }
  try {
    return expandFiles([pattern]).map((file) => ({ file, scenario: library.addFile(file) }));
  } catch (error) {
    const isMeantAsPath = /[\\/.]/.test(pattern);
    if (!(error instanceof UsageError) || isMeantAsPath) throw error;
    throw new UsageError(
      `no scenario and no file is called ${pattern}; \`understudy scenario list\` has the names`,
    );
  }
}

/**
 * Expands paths and globs to files, sorted within each pattern, each once. Users quote globs for shells that do not expand
 * them, or not in the same way.
 * @throws UsageError if a path does not exist or a glob matches no file
 */
export function expandFiles(patterns: readonly string[]): string[] {
  const files = new Map<string, string>();
  for (const pattern of patterns) {
    for (const file of existsSync(pattern) ? [pattern] : listMatching(pattern)) {
      if (statSync(file).isDirectory())
        throw new UsageError(`${file} is a folder; name its files, for example ${file}/*.yaml`);
      files.set(resolve(file), file);
    }
  }
  return [...files.values()];
}

function listMatching(pattern: string): string[] {
  // On other systems a backslash escapes the next character.
  const slashed = process.platform === "win32" ? pattern.replaceAll("\\", "/") : pattern;
  const { folder, glob } = findLiteralFolder(slashed.replace(/^\.\//, ""));
  const { base: escapedBase, glob: wildcards, isGlob } = picomatch.scan(glob);
  const base = escapedBase.replace(/\\(.)/g, "$1");
  if (!isGlob) throw new UsageError(`there is no file ${pattern}`);
  const isMatch = picomatch(glob);
  const start = join(folder, base);
  // Folders below may be large, or unreadable.
  const recursive = /\/|\*\*/.test(wildcards);
  const matching = existsSync(start)
    ? (readdirSync(start, { recursive }) as string[])
        .map((name) => join(base, name))
        .filter((name) => isMatch(name.replaceAll("\\", "/")))
        .map((name) => join(folder, name).replaceAll("\\", "/"))
        .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
        .sort()
    : [];
  if (matching.length === 0) throw new UsageError(`no file matches ${pattern}`);
  return matching;
}

/** Existing folders are taken literally: `runs [1]/*.yaml` is in a folder with brackets. */
function findLiteralFolder(pattern: string): { folder: string; glob: string } {
  for (let at = pattern.lastIndexOf("/"); at >= 0; at = pattern.lastIndexOf("/", at - 1)) {
    const folder = pattern.slice(0, at + 1);
    if (existsSync(folder)) return { folder, glob: pattern.slice(at + 1) };
    if (at === 0) break;
  }
  return { folder: "", glob: pattern };
}
