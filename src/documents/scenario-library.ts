import type { DeclaredApi } from "../engine/contract/declared-api.ts";
import type { DocumentError } from "../engine/documents/document-error.ts";
import { nearest } from "../engine/documents/nearest.ts";
import type { ScenarioDocument } from "../engine/faults/rules/rule-schema.ts";
import { MAX_SCENARIO_BYTES, readScenario, scenarioOf } from "../engine/faults/scenarios/read-scenario.ts";
import type { Scenario } from "../engine/faults/scenarios/scenario.ts";
import { UnknownScenario } from "../engine/sandbox/fault-gate.ts";
import type { Document, Read } from "./document.ts";
import { DocumentLibrary, type Refreshed } from "./document-library.ts";
import { readFileText, UnreadableFile } from "./read-file.ts";
import { SHIPPED_SCENARIOS } from "./shipped-files.ts";

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

/** The scenarios that can be switched on by name: shipped ones, the user's folder, single files. */
export class ScenarioLibrary {
  readonly files: DocumentLibrary<Scenario>;
  private readonly api: DeclaredApi;
  private readonly trustBuild: boolean;
  /** With the names that are in force there. */
  private readonly users = new Map<ScenarioUser, readonly string[]>();
  /** By name, in how many sandboxes. */
  private readonly inForce = new Map<string, number>();

  constructor({ api, folders = scenarioFolders(), ...given }: ScenarioLibraryOptions) {
    const { cwd = process.cwd(), trustBuild = true } = given;
    this.api = api;
    this.trustBuild = trustBuild;
    this.files = new DocumentLibrary<Scenario>({
      folders,
      cwd,
      kept: Number.POSITIVE_INFINITY,
      read: (file) => this.read(file),
      nameOf: ({ name }) => name,
      differs: (before, after) => this.differs(before, after),
      isInUse: ({ version }) => version !== undefined && this.isInForce(version.name),
    });
  }

  /**
   * The scenario as its file says it now; where a later edit cannot be used, the last good version as long as
   * that one is in force anywhere.
   * @throws UnknownScenario, or DocumentError for one whose file cannot be used
   */
  get(name: string): Scenario {
    if (!this.isInForce(name)) {
      const known = this.files.find(name);
      if (known === undefined) throw this.unknown(name);
      if (known.problem !== undefined) throw known.problem;
    }
    return this.lastGood(name);
  }

  /**
   * What was in force once and has to come back: an edit that cannot be used does not stand in the way.
   * @throws UnknownScenario, or DocumentError for one whose file never was right
   */
  lastGood(name: string): Scenario {
    const { files } = this;
    const known = files.find(name) ?? files.known().find((document) => files.nameOf(document) === name);
    if (known?.version !== undefined) return known.version;
    throw known?.problem ?? this.unknown(name);
  }

  /** Whether `get` has it. */
  isUsable(name: string): boolean {
    return this.isInForce(name) || this.files.find(name)?.problem === undefined;
  }

  has(name: string): boolean {
    return this.isInForce(name) || this.files.find(name) !== undefined;
  }

  /** Whether it is in force, or its file is called like it; looks into no folder. */
  hasFileOf(name: string): boolean {
    return this.isInForce(name) || this.files.findByFile(name) !== undefined;
  }

  names(): string[] {
    return this.list().map(({ name }) => name);
  }

  /** By name; with what is in force although its file is gone. */
  list(): ListedScenario[] {
    const { files } = this;
    const present = files.list();
    const names = new Set(present.map((document) => files.nameOf(document)));
    const lost = files.inUse().filter((document) => !names.has(files.nameOf(document)));
    return [...present, ...lost]
      .map((document) => this.listed(document, lost.includes(document)))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Takes a file that stands in none of the folders; its scenario goes before all others of its name.
   * @throws DocumentError
   */
  addFile(path: string): Scenario {
    return this.files.add(path);
  }

  /** Tells `user` of edits to what is active there now, until `release`; to be called again when that changes. */
  use(user: ScenarioUser): void {
    const { active } = user;
    for (const name of active) this.inForce.set(name, (this.inForce.get(name) ?? 0) + 1);
    this.release(user);
    this.users.set(user, active);
    this.files.announceUse();
  }

  release(user: ScenarioUser): void {
    for (const name of this.users.get(user) ?? []) {
      const left = this.inForce.get(name)! - 1;
      if (left === 0) this.inForce.delete(name);
      else this.inForce.set(name, left);
    }
    this.users.delete(user);
  }

  /** Takes up what an edited file says now, where it is in use. */
  refresh(file: string): Refreshed<Scenario> {
    const { changed, broken } = this.files.refresh(file);
    // One that another file of the same name hides is in force nowhere.
    const inForce = changed.filter((document) => this.files.find(document.version!.name) === document);
    for (const { version } of inForce) for (const user of this.users.keys()) user.renew(version!);
    return { changed: inForce, broken };
  }

  private listed(document: Document<Scenario>, isLost: boolean): ListedScenario {
    const { version, problem } = document;
    const file = document.file!;
    const shown = this.files.shown(file);
    return {
      name: this.files.nameOf(document),
      file: shown,
      shipped: SHIPPED_SCENARIOS.holds(file),
      scenario: version,
      problem: isLost ? new UnreadableFile(shown, `there is no file ${shown}`) : problem,
    };
  }

  private isInForce(name: string): boolean {
    return this.inForce.has(name);
  }

  /** @throws UnreadableFile where the newer one is called otherwise than the one in force */
  private differs(before: Scenario, after: Scenario): boolean {
    if (before.name !== after.name && this.isInForce(before.name)) {
      const message = `the scenario was called ${before.name} and is called ${after.name} now; switch the old name off first`;
      throw new UnreadableFile(this.files.shown(before.file), message);
    }
    return JSON.stringify(written(before)) !== JSON.stringify(written(after));
  }

  private read(file: string): Read<Scenario> {
    const shown = this.files.shown(file);
    const { text, mark } = readFileText(file, { shown, noun: "scenario", maxBytes: MAX_SCENARIO_BYTES });
    const built = this.trustBuild ? SHIPPED_SCENARIOS.compiled(file, text) : undefined;
    const value =
      built === undefined
        ? readScenario({ text, shown, file }, this.api)
        : scenarioOf(built as ScenarioDocument, { file }, this.api.operations);
    // Nobody can edit what is packed, so there is nothing to follow.
    return { value, files: new Map(SHIPPED_SCENARIOS.textOf(file) === undefined ? [[file, mark]] : []) };
  }

  private unknown(name: string): UnknownScenario {
    return new UnknownScenario(name, nearest(name, this.names()));
  }
}

/** The user's folder, where there is one, before the shipped scenarios (interfaces 2). */
export function scenarioFolders(own?: string): string[] {
  return own === undefined ? [SHIPPED_SCENARIOS.folder] : [own, SHIPPED_SCENARIOS.folder];
}

/** What the file says, without what follows from it. */
function written({ rules, ...scenario }: Scenario): object {
  return { ...scenario, rules: rules.map(({ id, document }) => ({ id, document })) };
}
