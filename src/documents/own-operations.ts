import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join, resolve } from "node:path";
import { inspect } from "node:util";
import { toHex } from "../engine/bytes.ts";
import { OwnOperationError } from "../engine/contract/errors.ts";
import {
  type DocumentError,
  documentError,
  NO_POSITION,
  type Position,
} from "../engine/documents/document-error.ts";
import { createJoinedApi, type OperationSource, readDeclarations } from "../engine/own/join.ts";
import { digest } from "../engine/platform.ts";
import { ChangeListeners } from "../engine/state/concurrency.ts";
import { formatPath, getFileVersion, readUserText, UnreadableFile } from "./files.ts";
import { followVersions, type OwnFiles } from "./watch-documents.ts";

const EXTENSIONS = [".ts", ".mts", ".js", ".mjs"];
/** Loaded from this package, wherever the importing file is. */
const LIBRARY = "understudy-sandbox/operations";

/** The files of `--operations`, and the modules that they import. */
export class OwnOperations implements OwnFiles {
  private readonly paths: readonly string[];
  private readonly cwd: string;
  private readonly loadTimeoutMs: number;
  private readonly listeners = new ChangeListeners();
  /** By real path. */
  private readonly versions = new Map<string, string>();
  /** The folders among the paths, by real path. */
  private readonly folders = new Set<string>();
  readonly files = followVersions(this.versions, this.listeners, (file) => this.isNew(file));

  /** @param paths files and folders */
  constructor(paths: readonly string[], cwd = process.cwd(), loadTimeoutMs = 10_000) {
    this.loadTimeoutMs = loadTimeoutMs;
    this.paths = paths;
    this.cwd = cwd;
  }

  /**
   * Loads the newest version of all files.
   * @throws DocumentError for one that cannot be used; with line and column if they are known
   */
  async load(): Promise<readonly OperationSource[]> {
    const files = this.paths.flatMap((path) => this.listFiles(path));
    const origins = new Map<unknown, string>();
    const exports = await this.importFiles(files, origins);
    for (const file of this.versions.keys()) this.requireUtf8(file);
    const displayNames = files.map((file) => formatPath(file, this.cwd));
    const details = { source: displayNames.join(", "), sha256: this.digestFiles(), files: origins };
    const source = await readDeclarations(exports, details);
    this.checkDeclarations(source, files);
    return [source];
  }

  /**
   * Imports the newest version of the files, and records the versions of these and of the modules that they import.
   * @param origins gets the file that declares each exported value
   */
  private async importFiles(files: readonly string[], origins: Map<unknown, string>): Promise<unknown[]> {
    const { createJiti } = await import("jiti");
    const jiti = createJiti(import.meta.url, {
      fsCache: false,
      alias: { [LIBRARY]: createRequire(import.meta.url).resolve(LIBRARY) },
      interopDefault: false,
    });
    for (const file of this.versions.keys()) delete jiti.cache[file];
    const cachedBefore = new Set(Object.keys(jiti.cache));
    this.versions.clear();
    for (const file of files) this.versions.set(file, getFileVersion(file));
    const exports: unknown[] = [];
    const recordImports = () => {
      for (const file of Object.keys(jiti.cache))
        if (!cachedBefore.has(file) && !file.includes("node_modules"))
          this.versions.set(file, getFileVersion(file));
    };
    try {
      for (const file of files) {
        const displayName = formatPath(file, this.cwd);
        this.requireUtf8(file);
        const module = await this.limitTime(jiti.import<object>(file)).catch((error: unknown) => {
          recordImports();
          throw this.toDocumentError(displayName, error);
        });
        // A file may export again what another has declared.
        for (const value of Object.values(module)) if (!origins.has(value)) origins.set(value, displayName);
        exports.push(...Object.values(module));
      }
    } finally {
      recordImports();
      this.listeners.notify();
    }
    return exports;
  }

  /** Does not depend on the paths, so that the digest is the same in any folder. */
  private digestFiles(): string {
    const digests = [...this.versions.keys()].map((file) => toHex(digest("sha256", readFileSync(file))));
    return toHex(digest("sha256", digests.sort().join("\n")));
  }

  /** @throws DocumentError */
  private checkDeclarations(source: OperationSource, files: readonly string[]): void {
    try {
      createJoinedApi([source]);
    } catch (error) {
      if (!(error instanceof OwnOperationError)) throw error;
      const message = error.message.replace(`${source.source}: `, "");
      for (const file of files) {
        const at = findQuoted(readFileSync(file, "utf8"), error.subject);
        if (at !== undefined) throw documentError(formatPath(file, this.cwd), at, message);
      }
      throw documentError(source.source, NO_POSITION, message);
    }
  }

  /** The loader reads all files as UTF-8. @throws DocumentError */
  private requireUtf8(file: string): void {
    const displayName = formatPath(file, this.cwd);
    if (readUserText(file, displayName) !== readFileSync(file, "utf8").replace(/^\ufeff/, ""))
      throw documentError(displayName, NO_POSITION, "the file is UTF-16; save it as UTF-8");
  }

  /** Rejects a load that takes too long: an `await` that never ends would stop the start, or all later edits. */
  private async limitTime<T>(loading: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const seconds = this.loadTimeoutMs / 1000;
      const error = new Error(
        `it was not loaded within ${seconds} s: does its top-level \`await\` ever end?`,
      );
      timer = setTimeout(() => reject(error), this.loadTimeoutMs);
    });
    return await Promise.race([loading, timeout]).finally(() => clearTimeout(timer));
  }

  private toDocumentError(displayName: string, thrown: unknown): DocumentError {
    if (!(thrown instanceof Error) && typeof (thrown as Error | undefined)?.message !== "string")
      return documentError(displayName, NO_POSITION, `it throws ${inspect(thrown)} while it is loaded`);
    const error = thrown as Error;
    const message = error.message
      .split("\n")[0]!
      .replace(/^(\w*Error): /, "")
      .trim();
    // A missing module is reported at its import, since the stack has the place in the compiled code.
    const [, missing] = /^Cannot find (?:module|package) '([^']+)'/.exec(message) ?? [];
    const places = [...this.versions.keys()].flatMap((file) => {
      const quoted = missing && findQuoted(readFileSync(file, "utf8"), missing);
      return quoted ? { depth: 0, file, position: quoted } : (findInStack(error, file) ?? []);
    });
    const [place] = places.sort((a, b) => a.depth - b.depth);
    if (place === undefined) return documentError(displayName, NO_POSITION, message);
    return documentError(formatPath(place.file, this.cwd), place.position, message);
  }

  private listFiles(path: string): string[] {
    const full = resolve(this.cwd, path);
    const displayName = formatPath(full, this.cwd);
    const stats = statSync(full, { throwIfNoEntry: false });
    if (stats === undefined) throw new UnreadableFile(displayName, `there is no file ${displayName}`);
    if (!stats.isDirectory()) {
      if (EXTENSIONS.includes(extname(full))) return [realpathSync(full)];
      throw new UnreadableFile(displayName, "it is neither TypeScript nor JavaScript");
    }
    const folder = realpathSync(full);
    this.folders.add(folder);
    const files = readdirSync(folder).filter(isDeclarationFile).sort();
    if (files.length === 0)
      throw new UnreadableFile(displayName, "the folder has no file in TypeScript or JavaScript");
    return files.map((file) => realpathSync(join(folder, file)));
  }

  /** Whether a file in one of the folders was not there at the last load. */
  private isNew(file: string): boolean {
    return !this.versions.has(file) && isDeclarationFile(basename(file)) && this.folders.has(dirname(file));
  }
}

function isDeclarationFile(name: string): boolean {
  return EXTENSIONS.includes(extname(name)) && !/^\.|\.d\.m?ts$|\.(test|spec)\./.test(name);
}

/** The position of an id or a module's name in the text, where it is quoted. */
function findQuoted(text: string, subject: string | undefined): Position | undefined {
  const lines = text.split("\n");
  for (const quote of ['"', "'", "`"]) {
    const line = lines.findIndex((one) => one.includes(`${quote}${subject}${quote}`));
    if (line >= 0) return { line: line + 1, column: lines[line]!.indexOf(`${quote}${subject}${quote}`) + 1 };
  }
  return undefined;
}

/** A file's first place in the stack; a smaller `depth` is nearer to the failure. */
function findInStack(
  error: Error,
  file: string,
): { depth: number; file: string; position: Position } | undefined {
  const stack = `${error.message}\n${error.stack ?? ""}`;
  const at = stack.indexOf(`${file}:`);
  const [, line, column] = at < 0 ? [] : (/^:(\d+):(\d+)/.exec(stack.slice(at + file.length)) ?? []);
  if (line === undefined) return undefined;
  // The parser counts columns from 0.
  const columnOffset = error.message.includes("ParseError") ? 1 : 0;
  return { depth: at, file, position: { line: Number(line), column: Number(column) + columnOffset } };
}
