import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { lstat, open, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Creates a folder and its missing parents. Step by step, because Node's own `recursive` never returns if the system
 * reports a missing parent that cannot be created, as below /proc.
 * @throws the system's error; EEXIST if something else has the name
 */
export function makeFolder(path: string, mode?: number): void {
  const parentError = tryToMakeFolder(path, mode);
  if (parentError === undefined) return;
  if (dirname(path) === path) throw parentError;
  makeFolder(dirname(path), mode);
  const secondError = tryToMakeFolder(path, mode);
  if (secondError !== undefined) throw secondError;
}

/** Undefined once the folder exists; the system's error if its parent does not. */
function tryToMakeFolder(path: string, mode: number | undefined): Error | undefined {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return error as Error;
    if (code !== "EEXIST" || !statSync(path).isDirectory()) throw error;
  }
  return undefined;
}

/** The name, with a number at its end if a file has it, so that none is overwritten. */
export function findFreeName(name: string): string {
  let freeName = name;
  for (let n = 2; existsSync(freeName); n++) freeName = `${name}-${n}`;
  return freeName;
}

/** The extension of a damaged file that stays for the user. */
export const DAMAGED_EXTENSION = ".damaged";

/** A folder whose files outlive the process, because stored rows name them. */
export class PersistentFolder {
  readonly path: string;
  private isCreated = false;

  constructor(path: string) {
    this.path = path;
  }

  /** Returns an unused path in the folder. */
  createPath(): string {
    if (!this.isCreated) makeFolder(this.path, 0o700);
    this.isCreated = true;
    return join(this.path, `blob-${randomUUID()}`);
  }

  /** Removes files that no sandbox names, left by a server that was killed. */
  removeAllBut(usedNames: ReadonlySet<string>): void {
    for (const name of listNames(this.path)) {
      if (!usedNames.has(name) && !name.endsWith(DAMAGED_EXTENSION))
        rmSync(join(this.path, name), { force: true });
    }
  }
}

/** @throws the error of a failed write, with its folder, which Node does not report */
export function throwWithFolder(error: Error, folder: string): never {
  throw Object.assign(error, { folder });
}

/** Syncs the names of the files in a folder to disk; not on Windows, which stores them itself and refuses this call. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** All temporary folders of the process; they share one exit listener. */
const folders = new Set<TemporaryFolder>();

function removeOnExit(): void {
  for (const folder of folders) folder.remove();
}

/**
 * A folder that is created with its first file and removed with the process. The next server removes the folder of a
 * process that was killed.
 */
export class TemporaryFolder {
  private currentPath: string | undefined;
  private fileCount = 0;

  get path(): string {
    // Machines clear their temporary folders, even during the run of a server.
    if (this.currentPath === undefined || !existsSync(this.currentPath)) {
      this.currentPath = makeOwnedFolder();
      if (folders.size === 0) process.on("exit", removeOnExit);
      folders.add(this);
    }
    return this.currentPath;
  }

  /** Returns an unused path in the folder; the name is independent of the client's. */
  createPath(): string {
    this.fileCount += 1;
    return join(this.path, `blob-${String(this.fileCount).padStart(8, "0")}`);
  }

  remove(): void {
    if (folders.delete(this) && folders.size === 0) process.off("exit", removeOnExit);
    if (this.currentPath === undefined) return;
    rmSync(this.currentPath, { recursive: true, force: true });
    this.currentPath = undefined;
  }
}

const FOLDER_NAME = /^understudy-uploads-([0-9a-f]{12})-(\d{1,10})-(\d{1,20})-[A-Za-z0-9]{6}$/;
/** The start of a process if the system does not report it. */
const UNKNOWN_START = "0";

/** Creates a temporary folder whose name says which process owns it. */
function makeOwnedFolder(): string {
  const processStart = readProcessStart(process.pid);
  // The system's temporary folder may have been removed, too.
  makeFolder(tmpdir());
  return mkdtempSync(
    join(tmpdir(), `understudy-uploads-${identifyMachine()}-${process.pid}-${processStart}-`),
  );
}

/**
 * Removes the folders of servers that ended without cleaning up, as after kill -9: real folders of this user, whose
 * name says that a process of this machine, which has ended, owns them. A folder that cannot be removed stays.
 * @returns the removed names
 */
export async function sweepOrphanedFolders(parent = tmpdir()): Promise<string[]> {
  const removedNames: string[] = [];
  for (const name of await readdir(parent).catch(() => [])) {
    const path = join(parent, name);
    if (!isOrphaned(name) || !(await isOwnFolder(path))) continue;
    try {
      await rm(path, { recursive: true, force: true });
      removedNames.push(name);
    } catch {
      // Another server that starts now may be removing it too.
    }
  }
  return removedNames;
}

function isOrphaned(name: string): boolean {
  const [, machine, pid, started] = FOLDER_NAME.exec(name) ?? [];
  return machine === identifyMachine() && !isProcessAlive(Number(pid), started!);
}

async function isOwnFolder(path: string): Promise<boolean> {
  try {
    const stats = await lstat(path);
    return stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
  } catch {
    return false;
  }
}

/** Process ids are valid only within a machine or container, and several may share a temporary folder. */
function identifyMachine(): string {
  let namespace = "";
  try {
    namespace = readlinkSync("/proc/self/ns/pid");
  } catch {
    // Other systems than Linux have no namespaces.
  }
  return createHash("sha256").update(`${hostname()} ${namespace}`).digest("hex").slice(0, 12);
}

/** The start of a process, in ticks since boot; `UNKNOWN_START` on other systems than Linux. */
function readProcessStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!;
  } catch {
    return UNKNOWN_START;
  }
}

/** Whether the process that had this id and began at `started` still runs: another process may have the id now. */
function isProcessAlive(pid: number, started: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signalled, but exists.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  return started === UNKNOWN_START || [started, UNKNOWN_START].includes(readProcessStart(pid));
}
