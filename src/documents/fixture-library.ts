import { toHex } from "../engine/bytes.ts";
import type { FixtureData, Resource } from "../engine/contract/resource.ts";
import { DEFAULT_SETTINGS, type Settings } from "../engine/contract/settings.ts";
import { DocumentError, documentError, NO_POSITION } from "../engine/documents/document-error.ts";
import { createInlineDocument, throwProblems } from "../engine/documents/user-document.ts";
import { WeakLruCache } from "../engine/documents/weak-lru-cache.ts";
import { checkFixtureDocument } from "../engine/fixtures/check-fixture.ts";
import { expandFixture } from "../engine/fixtures/expand-fixture.ts";
import { buildBase, buildVariant, Fixture, type RootBuilders } from "../engine/fixtures/fixture.ts";
import {
  type FixtureShape,
  getFixtureShape,
  getMinimumRecordCount,
  listIdFields,
} from "../engine/fixtures/fixture-shape.ts";
import { getOrAdd } from "../engine/maps.ts";
import { digest } from "../engine/platform.ts";
import type { FixtureSource, LoadedFixture } from "../engine/sandbox/sandbox-value.ts";
import type { Root } from "../engine/state/tables.ts";
import { type Document, DocumentLibrary, type LoadedDocument } from "./document-library.ts";
import { formatPath, isPath, UnreadableFile } from "./files.ts";
import { resolve } from "./node-files.ts";
import {
  type FixtureReadOptions,
  findFixture,
  listFixtureFolders,
  listFixtureNames,
  type ParsedFixture,
  readFixtureFile,
  readInlineFixture,
} from "./read-fixture.ts";

/** The number of unused fixtures that stay in memory. */
const CACHED_FIXTURES = 8;
/** Maximum number of names and paths that are remembered; a client that sends more is guessing. */
const MAX_NAMES = 1000;

/** By resources, then by the value in the build, so that the servers of a process share them. */
const shippedFixtures = new WeakMap<readonly Resource[], WeakLruCache<unknown, Fixture>>();

/** By default, paths are relative to the working folder, and names are searched in `listFixtureFolders(cwd)`. */
export interface FixtureLibraryOptions extends Partial<FixtureReadOptions> {
  resources: readonly Resource[];
}

/** The fixtures of a server: files by name or path, and inline fixtures (interfaces.md 5). */
export class FixtureLibrary implements FixtureSource {
  readonly files: DocumentLibrary<Fixture>;
  private resources: readonly Resource[];
  private readonly readOptions: FixtureReadOptions;
  private builders: RootBuilders;
  /** Files by the name or path that was given, so that the disk is searched once. */
  private readonly filesByName = new Map<string, string>();
  private readonly documentsByFixture = new WeakMap<LoadedFixture, Document<Fixture>>();
  private readonly requestedNames = new WeakMap<Document<Fixture>, string>();

  constructor({ resources, cwd = process.cwd(), ...options }: FixtureLibraryOptions) {
    const folders = options.folders ?? listFixtureFolders(cwd);
    this.resources = resources;
    this.readOptions = { ...options, folders, cwd, getIdFields: () => listIdFields(this.resources) };
    this.builders = createRootBuilders(resources);
    this.files = new DocumentLibrary<Fixture>({
      folders,
      cwd,
      cacheSize: CACHED_FIXTURES,
      read: (file) => this.createFixture(readFixtureFile(file, this.readOptions)),
      getName: undefined,
      differs: (before, after) => JSON.stringify(before.data) !== JSON.stringify(after.data),
      // A sandbox keeps its fixture in memory, so any that is there may be in use.
      isInUse: () => true,
    });
  }

  /** Call this after the resources have changed, and with them the collections that a fixture may fill. */
  setResources(resources: readonly Resource[]): void {
    this.resources = resources;
    this.builders = createRootBuilders(resources);
    this.files.rereadAll();
  }

  load(fixture: string | object): LoadedFixture {
    const document = this.findOrRead(fixture);
    const name = typeof fixture === "string" ? fixture : "inline";
    // Only references the last root and its base, so that they stay in memory as long as a sandbox has the result: a
    // reset builds nothing, and persistence compares collections with the base by reference.
    let retained: readonly [base: Root, current: Root] | undefined;
    const buildRoot = (seed: number, settings?: Settings): Root => {
      const value = document.value!;
      const base = value.buildRoot(seed);
      const current = value.buildRoot(seed, settings);
      if (current !== base || retained?.[0] !== base) retained = [base, current];
      return current;
    };
    const loaded: LoadedFixture = {
      name,
      buildRoot,
      getMinimumRecordCount: () => getMinimumRecordCount(document.value!.data, this.shape),
      getDocument: () => document.value!.data,
    };
    this.documentsByFixture.set(loaded, document);
    return loaded;
  }

  listNames(): string[] {
    return listFixtureNames(this.readOptions.folders);
  }

  /**
   * The fixture with everything it extends.
   * @throws DocumentError
   */
  loadData(fixture: string | object): FixtureData {
    return this.findOrRead(fixture).value!.data;
  }

  findDocument(loaded: LoadedFixture): Document<Fixture> | undefined {
    return this.documentsByFixture.get(loaded);
  }

  /** The name or path by which a document was first requested. */
  findRequestedName(document: Document<Fixture>): string {
    return this.requestedNames.get(document) ?? "inline";
  }

  /** @throws DocumentError */
  private findOrRead(fixture: string | object): Document<Fixture> {
    return typeof fixture === "string" ? this.findByName(fixture) : this.findInline(fixture);
  }

  private findByName(name: string): Document<Fixture> {
    const cachedFile = this.filesByName.get(name);
    const file = cachedFile ?? this.findFile(name);
    const document = requireReadable(this.files.getByFile(file));
    if (!this.requestedNames.has(document)) this.recordFirstUse(document, name);
    if (cachedFile === undefined) {
      // Only a fixture that could be read is remembered under its name.
      if (this.filesByName.size >= MAX_NAMES) this.filesByName.clear();
      this.filesByName.set(name, file);
    }
    return document;
  }

  private findFile(name: string): string {
    const result = findFixture(name, this.readOptions);
    if (typeof result === "string") return result;
    const { cwd } = this.readOptions;
    const file = isPath(name) ? formatPath(resolve(cwd, name), cwd) : name;
    throw new UnreadableFile(file, result.message, result.hint);
  }

  private findInline(fixture: object): Document<Fixture> {
    const file = "inline fixture";
    const text = tryStringify(fixture);
    // Refuses a value that nests too deep for JSON.
    if (text === undefined) createInlineDocument(fixture, { file });
    if (text === undefined || Array.isArray(fixture))
      throw documentError(file, NO_POSITION, "the document must be a map");
    const key = `inline ${toHex(digest("sha256", text))}`;
    const read = () => readInlineFixture(createInlineDocument(JSON.parse(text), { file }), this.readOptions);
    const document = requireReadable(this.files.readValue(key, () => this.createFixture(read())));
    if (!this.requestedNames.has(document)) this.recordFirstUse(document, "inline");
    return document;
  }

  private recordFirstUse(document: Document<Fixture>, name: string): void {
    this.requestedNames.set(document, name);
    if ([...document.files].length > 0) this.files.announceFilesInUse();
  }

  /** @throws DocumentError */
  private createFixture({ document, files, isTrusted }: ParsedFixture): LoadedDocument<Fixture> {
    if (isTrusted) return { value: this.findShipped(document.value), files };
    throwProblems(checkFixtureDocument(document, this.shape), ...document.layers);
    return { value: new Fixture(document.value as FixtureData, isTrusted, this.builders), files };
  }

  private findShipped(value: unknown): Fixture {
    const cache = getOrAdd(shippedFixtures, this.resources, () => new WeakLruCache<unknown, Fixture>(0));
    return getOrAdd(cache, value, () => new Fixture(value as FixtureData, true, this.builders));
  }

  /** Created when a fixture is checked or counted; a start with the shipped fixture does not need it. */
  private get shape(): FixtureShape {
    return getFixtureShape(this.resources);
  }
}

function createRootBuilders(resources: readonly Resource[]): RootBuilders {
  const settingNames = [...new Set(resources.flatMap(({ fixture }) => fixture?.dependsOnSettings ?? []))];
  const expand = ({ data, isTrusted }: Fixture, seed: number) =>
    isTrusted ? data : expandFixture(data, getFixtureShape(resources), seed);
  return {
    buildBase: (fixture, seed) => buildBase(expand(fixture, seed), seed, resources),
    buildVariant: (fixture, { seed, settings, base }) =>
      buildVariant(base, { fixture: expand(fixture, seed), seed, resources, settings }),
    // The settings that fixtures depend on and that differ from their defaults.
    describeDifferences: (settings) =>
      settingNames
        .filter((name) => settings[name] !== DEFAULT_SETTINGS[name])
        .map((name) => `${name}=${JSON.stringify(settings[name])}`)
        .join(" "),
  };
}

/** @throws DocumentError if the document never had a good version */
function requireReadable(document: Document<Fixture>): Document<Fixture> {
  if (document.value === undefined) throw document.problem!;
  return document;
}

/** Undefined for a value that JSON cannot write, such as one that contains itself. */
function tryStringify(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Checks a fixture, given by name or path; undefined if it can be used. */
export function checkFixture(fixture: string, options: FixtureLibraryOptions): DocumentError | undefined {
  try {
    new FixtureLibrary({ ...options, trustBuild: false }).load(fixture);
    return undefined;
  } catch (error) {
    if (error instanceof DocumentError) return error;
    throw error;
  }
}
