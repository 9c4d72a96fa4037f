import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, extname, isAbsolute, join, relative, resolve } from "node:path";
import type { DeclaredApi } from "../../contract/declared-api.ts";
import { DocumentError } from "../../documents/document-error.ts";
import { nearest } from "../../documents/nearest.ts";
import { SHIPPED_SCENARIOS } from "../../documents/shipped-files.ts";
import { UnknownScenario } from "../../sandbox/fault-gate.ts";
import type { ScenarioDocument } from "../rules/rule-schema.ts";
import { readScenario, scenarioOf } from "./read-scenario.ts";
import type { Scenario } from "./scenario.ts";

const EXTENSIONS = [".yaml", ".yml", ".json"];
const LARGEST_FILE = 4 * 1024 * 1024;

export interface ScenarioLibraryOptions {
  api: DeclaredApi;
  /** Where scenarios are found by name, the first that has one wins; by default the shipped ones alone. */
  folders?: readonly string[];
  /** What relative paths start from and messages show paths by. */
  cwd?: string;
  /** Takes shipped scenarios as the build has stored them, unless false. */
  trustBuild?: boolean;
}

/** A sandbox in which scenarios are in force. */
export interface ScenarioUser {
  readonly active: readonly string[];
  renew(scenario: Scenario): void;
}

/** A scenario as lists show it; `problem` is that of its newest text, which is not in force. */
export interface ListedScenario {
  name: string;
  file: string;
  shipped: boolean;
  scenario: Scenario | undefined;
  problem: DocumentError | undefined;
}

/** What became of an edited file. */
export interface ScenarioChange {
  scenario: Scenario | undefined;
  /** The last good version stays in force. */
  problem: DocumentError | undefined;
}

interface Entry {
  file: string;
  /** Modification time and size, by which an edit is noticed. */
  mark: string;
  scenario: Scenario | undefined;
  problem: DocumentError | undefined;
}

/**
 * The scenarios that can be switched on by name: shipped ones, the user's folder, single files. Files are
 * read when they are first asked for, so that they cost nothing at the start.
 */
export class ScenarioLibrary {
  private readonly api: DeclaredApi;
  private readonly folders: readonly string[];
  private readonly cwd: string;
  private readonly trustBuild: boolean;
  private readonly single: string[] = [];
  private readonly entries = new Map<string, Entry>();
  private readonly users = new Set<ScenarioUser>();
  private readonly listeners = new Set<() => void>();

  constructor({ api, folders = scenarioFolders(), ...given }: ScenarioLibraryOptions) {
    const { cwd = process.cwd(), trustBuild = true } = given;
    this.api = api;
    this.cwd = cwd;
    this.trustBuild = trustBuild;
    this.folders = folders.map((folder) => resolve(cwd, folder));
  }

  /**
   * The scenario as its file says it now; where a later edit cannot be used, the last good version as long as
   * that one is in force anywhere.
   * @throws UnknownScenario, or DocumentError for one whose file cannot be used
   */
  get(name: string): Scenario {
    if (!this.isInForce(name)) {
      const known = this.find(name);
      if (known === undefined) throw new UnknownScenario(name, nearest(name, this.names()));
      if (known.problem !== undefined) throw known.problem;
    }
    return this.lastGood(name);
  }

  /**
   * What was in force once and has to come back: an edit that cannot be used does not stand in the way.
   * @throws UnknownScenario, or DocumentError for one whose file never was right
   */
  lastGood(name: string): Scenario {
    const known = this.find(name) ?? [...this.entries.values()].find((entry) => nameOf(entry) === name);
    if (known?.scenario !== undefined) return known.scenario;
    if (known?.problem !== undefined) throw known.problem;
    throw new UnknownScenario(name, nearest(name, this.names()));
  }

  has(name: string): boolean {
    return this.isInForce(name) || this.find(name) !== undefined;
  }

  names(): string[] {
    return this.list().map(({ name }) => name);
  }

  /** By name; a file of the user's hides a shipped one of the same name. */
  list(): ListedScenario[] {
    const byName = new Map<string, ListedScenario>();
    for (const entry of this.scan()) {
      const name = nameOf(entry);
      if (byName.has(name)) continue;
      const { file, scenario, problem } = entry;
      byName.set(name, {
        name,
        file: this.shown(file),
        shipped: SHIPPED_SCENARIOS.holds(file),
        scenario,
        problem,
      });
    }
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Takes a file that stands in none of the folders; its scenario goes before all others of its name.
   * @throws DocumentError
   */
  addFile(path: string): Scenario {
    const file = resolve(this.cwd, path);
    if (!existsSync(file)) throw unreadable(this.shown(file), `there is no file ${this.shown(file)}`);
    const real = realpathSync(file);
    const entry = this.entryOf(real);
    if (entry.scenario === undefined) throw entry.problem!;
    if (!this.single.includes(real)) this.single.unshift(real);
    return entry.scenario;
  }

  /** Tells `user` of edits to what is active there, until `release`. */
  use(user: ScenarioUser): void {
    this.users.add(user);
    for (const listener of this.listeners) listener();
  }

  release(user: ScenarioUser): void {
    this.users.delete(user);
  }

  /** Calls back when other files than before may be in use; returns the way to stop. */
  onUse(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The files behind the scenarios that are in force anywhere. */
  filesInUse(): Set<string> {
    const active = new Set([...this.users].flatMap((user) => [...user.active]));
    const files = [...this.entries.values()].filter(({ scenario }) => scenario && active.has(scenario.name));
    return new Set(files.map(({ file }) => file));
  }

  /** Reads an edited file again and puts it in force where it is in use; undefined when it says the same. */
  refresh(file: string): ScenarioChange | undefined {
    const entry = this.entries.get(file);
    if (entry === undefined) return undefined;
    const before = entry.scenario;
    const fresh = this.read(file);
    entry.problem = fresh.problem ?? renamed(before, fresh.scenario, this.shown(file));
    // Once it is out of force, an unusable edit is looked at again: its new name may be right then.
    entry.mark = entry.problem === undefined ? fresh.mark : "unusable";
    if (entry.problem !== undefined) return { scenario: undefined, problem: entry.problem };
    entry.scenario = fresh.scenario;
    // One that another file of the same name hides is in force nowhere.
    if (this.find(fresh.scenario!.name)?.file !== file) return undefined;
    for (const user of this.users) user.renew(fresh.scenario!);
    return { scenario: fresh.scenario, problem: undefined };
  }

  private isInForce(name: string): boolean {
    for (const { active } of this.users) if (active.includes(name)) return true;
    return false;
  }

  private find(name: string): Entry | undefined {
    for (const file of this.single) {
      const entry = this.entryOf(file);
      if (nameOf(entry) === name) return entry;
    }
    // Most files are called like their scenarios, which saves reading all the others.
    if (/^[\w.-]+$/.test(name)) {
      for (const folder of this.folders) {
        for (const extension of EXTENSIONS) {
          const file = join(folder, name + extension);
          if (!existsSync(file)) continue;
          const entry = this.entryOf(realpathSync(file));
          if (nameOf(entry) === name) return entry;
        }
      }
    }
    return this.scan().find((entry) => nameOf(entry) === name);
  }

  /** All entries in order of precedence. */
  private scan(): Entry[] {
    const files = [...this.single, ...this.folders.flatMap(scenarioFiles)];
    return files.map((file) => this.entryOf(file));
  }

  /** A file that was edited and is not in use is read again; of those in use, the watch tells. */
  private entryOf(file: string): Entry {
    const known = this.entries.get(file);
    if (known !== undefined) {
      if (known.mark === markOf(file) || this.isInForce(nameOf(known))) return known;
      const fresh = this.read(file);
      // A sandbox that goes back to its first day asks for what was good once.
      if (fresh.scenario === undefined) Object.assign(known, { mark: fresh.mark, problem: fresh.problem });
      else Object.assign(known, fresh);
      return known;
    }
    const entry = this.read(file);
    this.entries.set(file, entry);
    return entry;
  }

  private read(file: string): Entry {
    const mark = markOf(file);
    try {
      const text = this.textOf(file);
      const built = this.trustBuild
        ? (SHIPPED_SCENARIOS.compiled(file, text.text) as ScenarioDocument | undefined)
        : undefined;
      const scenario =
        built === undefined ? readScenario(text, this.api) : scenarioOf(built, text, this.api.operations);
      return { file, mark, scenario, problem: undefined };
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      return { file, mark, scenario: undefined, problem: error };
    }
  }

  private textOf(file: string) {
    const shown = this.shown(file);
    try {
      const stats = statSync(file);
      if (!stats.isFile()) throw unreadable(shown, `${shown} is no ordinary file`);
      if (stats.size > LARGEST_FILE) throw unreadable(shown, `${shown} is too large for a scenario`);
      return { text: readFileSync(file, "utf8"), shown, file };
    } catch (error) {
      if (error instanceof DocumentError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      throw unreadable(
        shown,
        code === "ENOENT" ? `there is no file ${shown}` : `${shown} cannot be read (${code})`,
      );
    }
  }

  private shown(file: string): string {
    const short = relative(this.cwd, file);
    return short === "" || short.startsWith("..") || isAbsolute(short) ? file : short;
  }
}

/** The user's folder, where there is one, before the shipped scenarios (interfaces 2). */
export function scenarioFolders(own?: string): string[] {
  return own === undefined ? [SHIPPED_SCENARIOS.folder] : [own, SHIPPED_SCENARIOS.folder];
}

function nameOf({ scenario, file }: Entry): string {
  return scenario?.name ?? basename(file, extname(file));
}

/** Hidden files are editors' own: `.#mine.yaml` is a lock that points nowhere. */
function scenarioFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => !file.startsWith(".") && EXTENSIONS.includes(extname(file).toLowerCase()))
    .sort()
    .map((file) => join(folder, file))
    .filter((file) => existsSync(file))
    .map((file) => realpathSync(file));
}

function markOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? "gone" : `${stats.mtimeMs} ${stats.size}`;
}

function renamed(
  before: Scenario | undefined,
  after: Scenario | undefined,
  shown: string,
): DocumentError | undefined {
  if (before === undefined || after === undefined || before.name === after.name) return undefined;
  return unreadable(
    shown,
    `the scenario was called ${before.name} and is called ${after.name} now; switch the old name off first`,
  );
}

function unreadable(file: string, message: string): DocumentError {
  return new DocumentError([{ file, line: 0, column: 0, field: "", message }]);
}
