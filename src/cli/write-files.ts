import {
  accessSync,
  appendFileSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { makeFolder } from "../hosts/node/storage/folders.ts";
import { toAnnotations, toSummary } from "../tools/reports/github.ts";
import { type JunitReport, writeJunit } from "../tools/reports/junit.ts";
import { UsageError } from "./failure.ts";
import { printError } from "./process.ts";

interface WriteOptions {
  force?: boolean;
  /** The file contains keys or secrets, so only this user may read it. */
  isSecret?: boolean;
}

/**
 * Writes a file and creates its missing folders. Replaces an existing file only with `force`, and never anything else: a
 * pipe would wait for its reader forever.
 * @throws UsageError
 */
export function writeNewFile(
  file: string,
  text: string | Uint8Array,
  { force = false, isSecret = false }: WriteOptions = {},
): void {
  requireOutputFile(file, force);
  makeParentFolder(file);
  // An existing file keeps its mode, and others could read the secrets until it is changed.
  if (isSecret && existsSync(file)) chmodSync(file, 0o600);
  try {
    writeFileSync(file, text, { flag: force ? "w" : "wx", ...(isSecret && { mode: 0o600 }) });
  } catch (error) {
    // The error of a full disk names no path.
    throw Object.assign(error as Error, { path: file });
  }
}

/**
 * Checks the path of a result; call it before long work, whose result would be lost.
 * @param force whether an existing file may be replaced
 * @throws UsageError if the path is a folder or no regular file, or an existing file may not be replaced; the system's
 * error if it may not be written
 */
export function requireOutputFile(file: string, force = true): void {
  requireExpandedHome(file);
  const stats = statSync(file, { throwIfNoEntry: false });
  // A link to a missing file exists too.
  if (stats === undefined && (force || lstatSync(file, { throwIfNoEntry: false }) === undefined)) {
    requireWritable(findNearestFolder(file), file);
    return;
  }
  if (stats !== undefined && !stats.isFile())
    throw new UsageError(
      `${file} is ${stats.isDirectory() ? "a folder" : "not a regular file"}; name a file to write`,
    );
  if (!force) throw new UsageError(`${file} exists; add --force to replace it`);
  requireWritable(file);
}

/** Shells expand `~` only at the beginning of a word, not in `--out=~/x`. @throws UsageError */
export function requireExpandedHome(path: string): void {
  if (/^~[/\\]/.test(path) && !existsSync("~"))
    throw new UsageError(`the ~ of ${path} was not expanded by your shell; write the whole path`);
}

function requireWritable(path: string, named = path): void {
  try {
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw Object.assign(error as Error, { path: named });
  }
}

/** The folder in which the file, or the first missing one of its folders, would be created. */
function findNearestFolder(file: string): string {
  const folder = dirname(resolve(file));
  return existsSync(folder) ? folder : findNearestFolder(folder);
}

/** Creates the folder of a file, with a message in case its name was mistyped. */
export function makeParentFolder(file: string): void {
  const folder = dirname(file);
  if (existsSync(folder)) return;
  makeFolder(folder);
  printError(`created the folder ${folder}`);
}

type ReportKind = "junit" | "html";

/** Reads `junit=FILE,html=FILE`. @throws UsageError */
export function parseReportFiles(
  options: readonly string[] | undefined,
): Partial<Record<ReportKind, string>> {
  const files: Partial<Record<ReportKind, string>> = {};
  for (const part of (options ?? []).flatMap((text) => text.split(","))) {
    const [, kind, file] = /^(junit|html)=(.+)$/.exec(part.trim()) ?? [];
    if (kind === undefined) throw new UsageError(`--report takes junit=FILE or html=FILE, not "${part}"`);
    if (files[kind as ReportKind] !== undefined)
      throw new UsageError(`--report has ${kind} more than once; give one file for each kind`);
    const taken = Object.values(files).find((other) => resolve(other) === resolve(file!));
    if (taken !== undefined)
      throw new UsageError(`--report names ${taken} for both kinds; give each kind a file of its own`);
    requireOutputFile(file!);
    files[kind as ReportKind] = file;
  }
  return files;
}

/** Writes the requested reports, and in GitHub Actions annotations and the job's summary. */
export function writeReports(
  files: Partial<Record<ReportKind, string>>,
  contents: { cases: () => JunitReport; html: () => string },
): void {
  const texts = { junit: () => writeJunit(contents.cases()), html: contents.html };
  for (const [kind, file] of Object.entries(files) as [ReportKind, string][]) {
    writeNewFile(file, texts[kind](), { force: true });
  }
  if (!process.env["GITHUB_ACTIONS"]) return;
  const report = contents.cases();
  // GitHub reads commands from standard error too; standard output may be JSON for a program.
  for (const line of toAnnotations(report, process.env["GITHUB_WORKSPACE"]))
    process.stderr.write(`${line}\n`);
  const summary = process.env["GITHUB_STEP_SUMMARY"];
  if (summary) appendFileSync(summary, toSummary(report));
}

export interface Ready {
  url: string;
  console: string;
  pid: number;
  /** Null if no control token is needed. */
  token: string | null;
}

/** Called before the start. @throws UsageError if the path is taken by something else than a file */
export function requireReadyFile(file: string): void {
  requireExpandedHome(file);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw new UsageError(`--ready-file ${file} is not a regular file; name a file to write`);
}

/**
 * Renames the file into place, so that a script that waits for it never reads half of it. Removed at exit, so that a script
 * does not mistake it for that of a running server.
 * @throws UsageError
 */
export function writeReadyFile(file: string, ready: Ready): void {
  requireReadyFile(file);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    makeFolder(dirname(file));
    writeFileSync(draft, `${JSON.stringify(ready)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  process.once("exit", () => removeReadyFile(file, ready.pid));
}

/** Another server may have replaced the file. */
function removeReadyFile(file: string, pid: number): void {
  try {
    if ((JSON.parse(readFileSync(file, "utf8")) as Ready).pid === pid) rmSync(file, { force: true });
  } catch {
    // The file was removed.
  }
}
