import { isJsonObject } from "../engine/contract/schema.ts";
import { findNearest } from "../engine/contract/text.ts";
import { DocumentError, type Position } from "../engine/documents/document-error.ts";
import { DEFAULT_LIMITS, type DocumentLimits, OWN_FILE_LIMITS } from "../engine/documents/document-limits.ts";
import { type LayeredDocument, mergeLayers } from "../engine/documents/merge-documents.ts";
import { readDocument } from "../engine/documents/read-document.ts";
import {
  createInlineDocument,
  locateProblem,
  throwProblems,
  type UserDocument,
  type Warn,
} from "../engine/documents/user-document.ts";
import {
  findDocumentFiles,
  isPath,
  listFiles,
  nameOfFile,
  readFileText,
  showFile,
  UnreadableFile,
} from "./files.ts";
import { dirname, existsSync, extname, join, realpathSync, resolve } from "./node-files.ts";
import { SHIPPED_FIXTURES } from "./shipped-files.ts";

export interface FixturePlaces {
  /** Searched by name in this order. */
  folders: readonly string[];
  /** The folder that relative paths start from. */
  cwd: string;
}

export interface NotFound {
  message: string;
  hint?: string | undefined;
}

/** The user's folder of fixtures, if there is one, then the shipped one. */
export function listFixtureFolders(cwd = process.cwd()): string[] {
  const own = join(cwd, "fixtures");
  return [...(existsSync(own) ? [own] : []), SHIPPED_FIXTURES.folder];
}

/**
 * The file of a fixture named on its own or by another's `extends`. A file never finds itself by name, so
 * that a user's reference.yaml can extend the shipped one.
 */
export function findFixture(fixture: string, places: FixturePlaces, from?: string): string | NotFound {
  const start = from === undefined ? places.cwd : dirname(from);
  if (isPath(fixture)) {
    const file = resolve(start, fixture);
    return existsSync(file)
      ? realpathSync(file)
      : { message: `there is no file ${showFile(file, places.cwd)}` };
  }
  const folders = from === undefined ? places.folders : [start, ...places.folders];
  for (const file of findDocumentFiles(fixture, folders)) if (file !== from) return file;
  return unknownName(fixture, listFixtureNames(folders));
}

/** The names of the fixtures in these folders, each once. */
export function listFixtureNames(folders: readonly string[]): string[] {
  return [...new Set(folders.flatMap(listFiles).map(nameOfFile))].sort();
}

function unknownName(fixture: string, names: readonly string[]): NotFound {
  const shown = names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
  const known = names.length === 0 ? "none is known by name" : `known by name: ${shown}`;
  return {
    message: `there is no fixture ${JSON.stringify(fixture.slice(0, 80))}; ${known}; the command line takes a file by its path, such as ./my.yaml`,
    hint: findNearest(fixture, names),
  };
}

const MAX_CHAIN_LENGTH = 20;

/**
 * Enough for some ten thousand written records; a document that tries to exhaust the reader is refused after about a
 * second.
 */
const LIMITS: DocumentLimits = { ...DEFAULT_LIMITS, maxBytes: OWN_FILE_LIMITS.maxBytes };
/** Characters from which on a JSON file is read by the platform, a hundred times faster than by the YAML reader. */
const LARGE_JSON = 256 * 1024;

export interface ReadFixture {
  document: LayeredDocument;
  /** The files that it was read from, by their real paths, each with its version at that time. */
  files: ReadonlyMap<string, string>;
  /** The value was stored by the build and needs no check. */
  trusted: boolean;
}

export interface ReadPlaces extends FixturePlaces {
  trustBuild?: boolean | undefined;
  warn?: Warn | undefined;
}

/**
 * Reads a fixture's file with everything it extends.
 * @throws DocumentError for a file that cannot be read, and for a chain that is broken or closes on itself
 */
export function readFixtureFile(file: string, places: ReadPlaces): ReadFixture {
  return readChain(readLayer(file, places), places);
}

/** The same for a fixture that was given as a value. */
export function readInlineFixture(document: UserDocument, places: ReadPlaces): ReadFixture {
  return readChain({ document, trusted: false, file: undefined, mark: "" }, places);
}

interface Layer {
  document: UserDocument;
  trusted: boolean;
  file: string | undefined;
  mark: string;
}

function readChain(top: Layer, places: ReadPlaces): ReadFixture {
  const layers: [Layer, ...Layer[]] = [top];
  for (let next = readExtended(top, layers, places); next !== undefined; ) {
    layers.push(next);
    next = readExtended(next, layers, places);
  }
  return {
    document: mergeLayers(layers.map(({ document }) => document) as [UserDocument, ...UserDocument[]]),
    files: new Map(layers.flatMap(({ file, mark }) => (file === undefined ? [] : [[file, mark] as const]))),
    trusted: layers.length === 1 && top.trusted,
  };
}

function readExtended(layer: Layer, above: readonly Layer[], places: ReadPlaces): Layer | undefined {
  const { document, file: from } = layer;
  const name = isJsonObject(document.value) ? document.value["extends"] : undefined;
  // The schema refuses anything other than a text.
  if (typeof name !== "string" || name === "") return undefined;
  const refuse = (message: string, hint?: string): never => {
    const problem = locateProblem(document, { path: ["extends"], message, hint });
    throw new DocumentError([problem], document.text);
  };
  const found = findFixture(name, places, from);
  if (typeof found !== "string") return refuse(found.message, found.hint);
  if (above.some(({ file }) => file === found)) {
    const chain = [...above.map(({ file }) => file), found].filter((file) => file !== undefined);
    const shown = chain.map((file) => showFile(file, places.cwd)).join(", which extends ");
    return refuse(`a fixture cannot extend itself: ${shown}`);
  }
  if (above.length >= MAX_CHAIN_LENGTH)
    return refuse(`more than ${MAX_CHAIN_LENGTH} fixtures extend one another`);
  try {
    return readLayer(found, places);
  } catch (error) {
    // A missing file is reported where it is named; mistakes in a file are reported in that file.
    if (error instanceof UnreadableFile) return refuse(error.message);
    throw error;
  }
}

function readLayer(file: string, { cwd, trustBuild, warn }: ReadPlaces): Layer {
  const shown = showFile(file, cwd);
  const { text, mark } = readFileText(file, { shown, noun: "fixture", maxBytes: OWN_FILE_LIMITS.maxBytes });
  const value = trustBuild === false ? undefined : SHIPPED_FIXTURES.findCompiled(file, text);
  if (value !== undefined) return { document: locateLazily(text, shown, value), trusted: true, file, mark };
  const document =
    readLargeJson(file, text, shown) ?? readDocument(text, { file: shown, limits: LIMITS, warn });
  if (!isJsonObject(document.value))
    throwProblems(document, [
      locateProblem(document, { path: [], message: "a fixture must be a map of lists and settings" }),
    ]);
  return { document, trusted: false, file, mark };
}

function readLargeJson(file: string, text: string, shown: string): UserDocument | undefined {
  if (text.length < LARGE_JSON || extname(file).toLowerCase() !== ".json") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The YAML reader reports the position of the mistake.
    return undefined;
  }
  createInlineDocument(value, { file: shown, limits: OWN_FILE_LIMITS });
  return locateLazily(text, shown, value);
}

/** Positions are only needed for a problem, and only then is the text parsed; a text too large for that has none. */
function locateLazily(text: string, file: string, value: unknown): UserDocument {
  let read: UserDocument | undefined;
  const parsed = (): UserDocument => {
    try {
      read ??= readDocument(text, { file, limits: LIMITS });
    } catch {
      read = createInlineDocument(value, { file, limits: OWN_FILE_LIMITS });
    }
    return read;
  };
  return {
    file,
    text,
    value,
    locate: (path): Position => parsed().locate(path),
    locateKey: (path): Position => parsed().locateKey(path),
  };
}
