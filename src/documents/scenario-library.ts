import { findNearest } from "../engine/contract/text.ts";
import type { DocumentError } from "../engine/documents/document-error.ts";
import type { Warn } from "../engine/documents/user-document.ts";
import type { RuleApi } from "../engine/faults/check-rule.ts";
import { RefusalScenarios } from "../engine/faults/refusal-scenarios.ts";
import {
  MAX_SCENARIO_BYTES,
  readScenario,
  type Scenario,
  type ScenarioNames,
  type ScenarioSource,
  type ScenarioSubscriber,
} from "../engine/faults/scenario.ts";
import { UnknownScenarioError } from "../engine/sandbox/fault-types.ts";
import {
  type AffectedDocuments,
  type Document,
  DocumentLibrary,
  type LoadedDocument,
} from "./document-library.ts";
import {
  isPath,
  listDocumentFiles,
  listDocumentPaths,
  readFileText,
  resolveFile,
  UnreadableFile,
} from "./files.ts";
import { dirname } from "./node-files.ts";
import { SHIPPED_SCENARIOS } from "./shipped-files.ts";

interface ScenarioLibraryOptions {
  api: RuleApi;
  /** Searched by name in this order; by default the shipped folder alone. */
  folders?: readonly string[];
  /** The folder that relative paths start from, also in messages. */
  cwd?: string;
  warn?: Warn;
}

/** A scenario as lists show it; `problem` is that of its newest text, which is then not active. */
export interface ListedScenario {
  name: string;
  file: string;
  /** A file of the user's, a shipped file, or derived from the operations' declarations. */
  origin: "own" | "shipped" | "derived";
  scenario: Scenario | undefined;
  problem: DocumentError | undefined;
}

/** The scenarios of a server by name: single files, the user's folder, the shipped folder, and the derived ones. */
export class ScenarioLibrary implements ScenarioSource {
  readonly files: DocumentLibrary<Scenario>;
  readonly cachedNames: ScenarioNames = new CachedNames(this);
  private api: RuleApi;
  private readonly warn: Warn | undefined;
  private refusalScenarios: RefusalScenarios;
  readonly openedScenarios = new Map<string, Scenario>();
  /** Sandboxes with the names of their active scenarios. */
  private readonly subscribers = new Map<ScenarioSubscriber, readonly string[]>();
  /** The number of sandboxes by name of the scenario. */
  private readonly activeCounts = new Map<string, number>();

  constructor({ api, folders = listScenarioFolders(), cwd = process.cwd(), warn }: ScenarioLibraryOptions) {
    this.api = api;
    this.warn = warn;
    this.refusalScenarios = new RefusalScenarios(api.operations);
    this.files = new DocumentLibrary<Scenario>({
      folders,
      cwd,
      cacheSize: Number.POSITIVE_INFINITY,
      read: (file) => this.read(file),
      getName: ({ name }) => name,
      differs: (before, after) => this.differs(before, after),
      isInUse: ({ value }) => value !== undefined && this.isActive(value.name),
    });
  }

  /** Call this after the operations have changed. */
  setApi(api: RuleApi): void {
    this.api = api;
    this.refusalScenarios = new RefusalScenarios(api.operations);
    this.files.rereadAll();
  }

  /**
   * The scenario in its current version. If a later edit is invalid: the last good version, as long as it is active in
   * any sandbox.
   */
  get(name: string): Scenario {
    if (this.isActive(name)) return this.getLastGood(name);
    const document = this.files.find(name);
    if (document?.problem !== undefined) throw document.problem;
    return document?.value ?? this.findOpenedOrDerived(name);
  }

  getLastGood(name: string): Scenario {
    const { files } = this;
    const document = files.find(name);
    const usable = [document, ...files.listLoaded()].find(
      (one) => one?.value !== undefined && files.getName(one) === name,
    );
    if (usable?.value !== undefined) return usable.value;
    if (document?.problem !== undefined && !this.isActive(name)) throw document.problem;
    return this.findOpenedOrDerived(name);
  }

  /** Whether `get` returns the scenario; for a name that `has` knows. */
  isUsable(name: string): boolean {
    return this.isActive(name) || this.files.find(name)?.problem === undefined;
  }

  has(name: string): boolean {
    return this.hasWithoutListing(name) || this.files.find(name) !== undefined;
  }

  hasWritten(name: string): boolean {
    return this.openedScenarios.has(name) || this.files.find(name) !== undefined;
  }

  /**
   * Whether the scenario has a file that is active or of its name, is opened, or derived; does not list folders. An active
   * scenario of no file may be derived from another sandbox's own operations.
   */
  hasWithoutListing(name: string): boolean {
    const { openedScenarios, refusalScenarios, files } = this;
    return (
      files.listInUse().some((document) => files.getName(document) === name) ||
      openedScenarios.has(name) ||
      refusalScenarios.has(name) ||
      files.findByFileName(name) !== undefined
    );
  }

  listNames(): string[] {
    const { files } = this;
    const inFiles = [...files.list(), ...files.listInUse()].map((document) => files.getName(document));
    return [
      ...new Set([...inFiles, ...this.openedScenarios.keys(), ...this.refusalScenarios.listNames()]),
    ].sort();
  }

  /** Lists scenarios by name; includes active ones whose file is gone. */
  list(): ListedScenario[] {
    const { files, refusalScenarios } = this;
    const listed = [
      ...files.list().map((document) => this.toListed(document, false)),
      // Active ones; those that the line above has not listed have lost their file.
      ...files.listInUse().map((document) => this.toListed(document, true)),
      ...[...this.openedScenarios.values()].map(describeOpened),
      ...refusalScenarios.listNames().map((name) => describeDerived(refusalScenarios.find(name)!)),
    ];
    // The first of each name.
    const byName = new Map(listed.toReversed().map((one) => [one.name, one]));
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Adds a file outside the folders; its scenario precedes all others of its name.
   * @throws DocumentError
   */
  addFile(path: string): Scenario {
    return this.files.add(path);
  }

  addDocument(name: string, document: object, api = this.api): boolean {
    const isReplaced = this.openedScenarios.has(name) && !this.isActive(name);
    if (this.has(name) && !isReplaced) return false;
    const text = JSON.stringify({ ...document, name });
    this.openedScenarios.set(name, readScenario({ text, displayName: `scenario ${name}`, file: name }, api));
    return !isReplaced;
  }

  /** Removes what `addDocument` added, when the rest of the file could not be opened. */
  removeDocument(name: string): void {
    this.openedScenarios.delete(name);
  }

  /** Adds the scenarios that are given by file, and returns the names of all. @throws DocumentError */
  addAll(scenarios: readonly string[]): string[] {
    return scenarios.map((scenario) => (isPath(scenario) ? this.addFile(scenario).name : scenario));
  }

  subscribe(user: ScenarioSubscriber): void {
    const { scenarios } = user;
    // Counted before the old ones are removed, so that a scenario that stays active never looks inactive.
    for (const name of scenarios) this.activeCounts.set(name, (this.activeCounts.get(name) ?? 0) + 1);
    this.unsubscribe(user);
    this.subscribers.set(user, scenarios);
    this.files.announceFilesInUse();
  }

  unsubscribe(user: ScenarioSubscriber): void {
    for (const name of this.subscribers.get(user) ?? []) {
      const remaining = this.activeCounts.get(name)! - 1;
      if (remaining === 0) this.activeCounts.delete(name);
      else this.activeCounts.set(name, remaining);
    }
    this.subscribers.delete(user);
  }

  /** The paths in the folders, also of missing files, that are named after active scenarios. */
  listNamesakes(): string[] {
    const folders = this.files.folders.flatMap((folder) => resolveFile(folder) ?? []);
    return [...this.activeCounts.keys()].flatMap((name) => listDocumentPaths(name, folders));
  }

  /** Whether a file of the user's folder may have the name of an active scenario, which is not known before it is read. */
  mayBeActive(file: string): boolean {
    if (this.activeCounts.size === 0 || SHIPPED_SCENARIOS.holds(file)) return false;
    const folder = this.files.folders.find((one) => resolveFile(one) === dirname(file));
    return folder !== undefined && listDocumentFiles(folder).some((one) => one.file === file);
  }

  /**
   * Applies an edited or new file to the sandboxes in which a scenario of its name is active. While it is gone, another
   * file with a scenario of that name takes its place.
   */
  refresh(file: string): AffectedDocuments<Scenario> {
    const { files } = this;
    const wasBroken = files.listInUse().filter((one) => one.usesFile(file) && one.problem !== undefined);
    const { changed, broken } = files.refresh(file);
    const edited = new Set([...changed, ...wasBroken.filter(({ problem }) => problem === undefined)]);
    // A scenario that another file of the same name hides is active nowhere.
    const current = [...edited].filter((document) => files.find(document.value!.name) === document);
    for (const { value } of current) this.apply(value!);
    const unreplaced = broken.filter(({ document }) => {
      const other = files.find(document.value!.name);
      if (other === undefined || other === document || other.value === undefined) return true;
      if (this.apply(other.value)) current.push(other);
      return false;
    });
    const added = this.mayBeActive(file) ? files.getByFile(file) : undefined;
    const name = added === undefined ? "" : files.getName(added);
    if (added !== undefined && this.isActive(name) && files.find(name)?.file === file) {
      const { value, problem } = added;
      if (value === undefined) unreplaced.push({ document: added, problem: problem! });
      else if (!current.includes(added) && this.apply(value)) current.push(added);
    }
    return { changed: current, broken: unreplaced };
  }

  /** Returns whether it changes rules of a sandbox. */
  private apply(scenario: Scenario): boolean {
    return [...this.subscribers.keys()].filter((user) => user.replaceScenario(scenario)).length > 0;
  }

  private toListed(document: Document<Scenario>, isLost: boolean): ListedScenario {
    const { value, problem } = document;
    const file = document.file!;
    const displayName = this.files.showPath(file);
    return {
      name: this.files.getName(document),
      file: displayName,
      origin: SHIPPED_SCENARIOS.holds(file) ? "shipped" : "own",
      scenario: value,
      problem: isLost ? new UnreadableFile(displayName, `there is no file ${displayName}`) : problem,
    };
  }

  /** @throws UnknownScenarioError */
  private findOpenedOrDerived(name: string): Scenario {
    const scenario = this.openedScenarios.get(name) ?? this.refusalScenarios.find(name);
    if (scenario === undefined) throw new UnknownScenarioError(name, findNearest(name, this.listNames()));
    return scenario;
  }

  private isActive(name: string): boolean {
    return this.activeCounts.has(name);
  }

  /** Whether an edit has changed the scenario. @throws UnreadableFile if it renames an active one */
  private differs(before: Scenario, after: Scenario): boolean {
    if (before.name !== after.name && this.isActive(before.name)) {
      const message = `the scenario was called ${before.name} and is called ${after.name} now; switch the old name off first`;
      throw new UnreadableFile(this.files.showPath(before.file!), message);
    }
    return before.name !== after.name || JSON.stringify(before.document) !== JSON.stringify(after.document);
  }

  private read(file: string): LoadedDocument<Scenario> {
    const displayName = this.files.showPath(file);
    const { text, version } = readFileText(file, {
      displayName,
      noun: "a scenario",
      maxBytes: MAX_SCENARIO_BYTES,
    });
    return {
      value: readScenario({ text, displayName, file, warn: this.warn }, this.api),
      files: new Map([[file, version]]),
    };
  }
}

/** The user's folder, if there is one, before the shipped scenarios (interfaces.md 2). */
export function listScenarioFolders(own?: string): string[] {
  return own === undefined ? [SHIPPED_SCENARIOS.folder] : [own, SHIPPED_SCENARIOS.folder];
}

/** How messages and lists name the file of a derived scenario, which has none. */
export function nameDerivedFile(name: string): string {
  return `built-in/${name}.yaml`;
}

function describeOpened(scenario: Scenario): ListedScenario {
  return { name: scenario.name, file: "an opened sandbox", origin: "own", scenario, problem: undefined };
}

export function describeDerived(scenario: Scenario): ListedScenario {
  const { name } = scenario;
  return { name, file: nameDerivedFile(name), origin: "derived", scenario, problem: undefined };
}

/** In milliseconds: the maximum age of a listing of the folders; any request may name a scenario in a header. */
const FRESH_MS = 1_000;

/** Lists the folders at most once a second, even if many requests name an unknown scenario. */
export class CachedNames implements ScenarioNames {
  private readonly library: Pick<ScenarioLibrary, "hasWithoutListing" | "listNames">;
  private readonly now: () => number;
  private names: readonly string[] = [];
  private readAt = Number.NEGATIVE_INFINITY;

  constructor(
    library: Pick<ScenarioLibrary, "hasWithoutListing" | "listNames">,
    now = () => performance.now(),
  ) {
    this.library = library;
    this.now = now;
  }

  has(name: string): boolean {
    return this.library.hasWithoutListing(name) || this.listNames().includes(name);
  }

  listNames(): readonly string[] {
    if (this.now() - this.readAt < FRESH_MS) return this.names;
    this.names = this.library.listNames();
    this.readAt = this.now();
    return this.names;
  }
}
