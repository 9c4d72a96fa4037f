import { isJsonObject } from "../engine/contract/schema.ts";
import { findNearest, tryParseJson } from "../engine/contract/text.ts";
import { checkJsonText } from "../engine/documents/check-json.ts";
import { DocumentError, type Position } from "../engine/documents/document-error.ts";
import { DEFAULT_LIMITS, type DocumentLimits, LARGE_LIMITS } from "../engine/documents/document-limits.ts";
import { type IdFields, type LayeredDocument, mergeLayers } from "../engine/documents/merge-documents.ts";
import { readDocument } from "../engine/documents/read-document.ts";
import {
  createInlineDocument,
  locateProblem,
  type ProblemDetails,
  throwProblems,
  type UserDocument,
  type Warn,
} from "../engine/documents/user-document.ts";
import {
  formatPath,
  isPath,
  listDocumentFiles,
  listDocumentPaths,
  readFileText,
  resolveFile,
  UnreadableFile,
} from "./files.ts";
import { dirname, existsSync, extname, join, resolve } from "./node-files.ts";
import { SHIPPED_FIXTURES } from "./shipped-files.ts";

/** Why there is no fixture of a name. */
type NotFound = Pick<ProblemDetails, "message" | "hint"> & { missingFiles?: readonly string[] };

export interface FixtureReadOptions {
  /** Searched by name in this order. */
  folders: readonly string[];
  /** The folder that relative paths start from, also in messages. */
  cwd: string;
  /** Uses shipped fixtures as the build has stored them, unless false. */
  trustBuild?: boolean;
  warn?: Warn;
  getIdFields?: () => IdFields;
}

/** The user's folder of fixtures, if there is one, then the shipped one. */
export function listFixtureFolders(cwd = process.cwd()): string[] {
  const userFolder = join(cwd, "fixtures");
  return [...(existsSync(userFolder) ? [userFolder] : []), SHIPPED_FIXTURES.folder];
}

/**
 * The file of a fixture named on its own or by another's `extends`. A file never finds itself by name, so
 * that a user's reference.yaml can extend the shipped one.
 */
export function findFixture(fixture: string, options: FixtureReadOptions, from?: string): string | NotFound {
  const start = from === undefined ? options.cwd : dirname(from);
  if (isPath(fixture)) {
    const file = resolve(start, fixture);
    const message = `there is no file ${formatPath(file, options.cwd)}`;
    return resolveFile(file) ?? { message, missingFiles: [file] };
  }
  const folders = from === undefined ? options.folders : [start, ...options.folders];
  const files = folders.flatMap(listDocumentFiles);
  const found = files.find(({ name, file }) => name === fixture && file !== from);
  return found?.file ?? describeUnknownName(fixture, folders);
}

export function listFixtureNames(folders: readonly string[]): string[] {
  return [...new Set(folders.flatMap(listDocumentFiles).map(({ name }) => name))].sort();
}

function describeUnknownName(fixture: string, folders: readonly string[]): NotFound {
  const names = listFixtureNames(folders);
  const firstNames =
    names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
  const knownNames = names.length === 0 ? "none is known by name" : `known by name: ${firstNames}`;
  return {
    message: `there is no fixture ${JSON.stringify(fixture.slice(0, 80))}; ${knownNames}; the command line takes a file by its path, such as ./my.yaml`,
    hint: findNearest(fixture, names),
    missingFiles: listDocumentPaths(fixture, folders),
  };
}

const MAX_CHAIN_LENGTH = 20;

/**
 * For YAML: enough for some ten thousand written records. A document that tries to exhaust the reader is refused after
 * about a second.
 */
const LIMITS: DocumentLimits = { ...DEFAULT_LIMITS, maxBytes: LARGE_LIMITS.maxBytes };
/** Characters from which on a JSON file is read by the platform, a hundred times faster than by the YAML reader. */
const LARGE_JSON = 256 * 1024;

export interface ParsedFixture {
  document: LayeredDocument;
  /** The files that it was read from, by their real paths, each with its version at that time. */
  files: ReadonlyMap<string, string>;
  /** The value was stored by the build and needs no check. */
  isTrusted: boolean;
}

/**
 * Reads a fixture's file with everything it extends.
 * @throws DocumentError for a file that cannot be read, and for a chain that is broken or closes on itself
 */
export function readFixtureFile(file: string, options: FixtureReadOptions): ParsedFixture {
  return readChain(readLayer(file, options), options);
}

export function readInlineFixture(document: UserDocument, options: FixtureReadOptions): ParsedFixture {
  return readChain({ document, isTrusted: false, file: undefined, version: "" }, options);
}

interface Layer {
  document: UserDocument;
  isTrusted: boolean;
  file: string | undefined;
  version: string;
}

function readChain(top: Layer, options: FixtureReadOptions): ParsedFixture {
  const layers: [Layer, ...Layer[]] = [top];
  for (let next = readExtended(top, layers, options); next !== undefined; ) {
    layers.push(next);
    next = readExtended(next, layers, options);
  }
  return {
    document: mergeLayers(
      layers.map(({ document }) => document) as [UserDocument, ...UserDocument[]],
      options.getIdFields?.(),
    ),
    files: new Map(
      layers.flatMap(({ file, version }) => (file === undefined ? [] : [[file, version] as const])),
    ),
    isTrusted: layers.length === 1 && top.isTrusted,
  };
}

function readExtended(
  layer: Layer,
  descendants: readonly Layer[],
  options: FixtureReadOptions,
): Layer | undefined {
  const { document, file: from } = layer;
  const name = isJsonObject(document.value) ? document.value["extends"] : undefined;
  // The schema refuses anything other than a text.
  if (typeof name !== "string" || name === "") return undefined;
  const refuse = ({ missingFiles, ...details }: NotFound): never => {
    const problem = locateProblem(document, { path: ["extends"], ...details });
    throw new DocumentError([problem], document.text, missingFiles);
  };
  const file = findFixture(name, options, from);
  if (typeof file !== "string") return refuse(file);
  if (descendants.some((one) => one.file === file)) {
    const chain = [...descendants.map(({ file }) => file), file].filter((file) => file !== undefined);
    const chainText = chain.map((file) => formatPath(file, options.cwd)).join(", which extends ");
    return refuse({ message: `a fixture cannot extend itself: ${chainText}` });
  }
  if (descendants.length >= MAX_CHAIN_LENGTH)
    return refuse({ message: `more than ${MAX_CHAIN_LENGTH} fixtures extend one another` });
  try {
    return readLayer(file, options);
  } catch (error) {
    // A missing file is reported where it is named; mistakes in a file are reported in that file.
    if (error instanceof UnreadableFile) return refuse(error);
    throw error;
  }
}

function readLayer(file: string, { cwd, trustBuild, warn }: FixtureReadOptions): Layer {
  const displayName = formatPath(file, cwd);
  const { text, version } = readFileText(file, {
    displayName,
    noun: "a fixture",
    maxBytes: LARGE_LIMITS.maxBytes,
  });
  const value = trustBuild === false ? undefined : SHIPPED_FIXTURES.findBuiltValue(file, text);
  if (value !== undefined)
    return { document: locateLazily(text, displayName, value), isTrusted: true, file, version };
  const document =
    readLargeJson(file, text, displayName) ?? readDocument(text, { file: displayName, limits: LIMITS, warn });
  if (!isJsonObject(document.value)) {
    const reason =
      document.value === null ? ", but this one is empty; write {} for a world without records" : "";
    const message = `a fixture must be a map of lists and settings${reason}`;
    throwProblems([locateProblem(document, { path: [], message })], document);
  }
  return { document, isTrusted: false, file, version };
}

function readLargeJson(file: string, text: string, displayName: string): UserDocument | undefined {
  if (text.length < LARGE_JSON || extname(file).toLowerCase() !== ".json") return undefined;
  const value = tryParseJson(text);
  // The YAML reader reports the position of the mistake.
  if (value === undefined) return undefined;
  checkJsonText(text, { file: displayName, exactNumbers: true });
  // Throws if the value exceeds the limits.
  createInlineDocument(value, { file: displayName, limits: LARGE_LIMITS });
  return locateLazily(text, displayName, value);
}

/** A document whose text is parsed once a problem needs a position; a text too large for that has no positions. */
function locateLazily(text: string, file: string, value: unknown): UserDocument {
  let parsedDocument: UserDocument | undefined;
  const getDocument = (): UserDocument => {
    try {
      parsedDocument ??= readDocument(text, { file, limits: LIMITS });
    } catch {
      parsedDocument = createInlineDocument(value, { file, limits: LARGE_LIMITS });
    }
    return parsedDocument;
  };
  return {
    file,
    text,
    value,
    locate: (path): Position => getDocument().locate(path),
    locateKey: (path): Position => getDocument().locateKey(path),
  };
}
