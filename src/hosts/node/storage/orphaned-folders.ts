import { createHash } from "node:crypto";
import { mkdtempSync, readlinkSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { isProcessAlive, startOfProcess } from "./live-process.ts";
import { makeFolder } from "./make-folder.ts";

const NAME = /^understudy-uploads-([0-9a-f]{12})-(\d{1,10})-(\d{1,20})-[A-Za-z0-9]{6}$/;
/** Stands for an unknown start, where the system does not tell. */
const UNKNOWN_START = "0";

/** Makes a folder among the system's temporary ones whose name says which process it belongs to. */
export function makeOwnedFolder(): string {
  const started = startOfProcess(process.pid) ?? UNKNOWN_START;
  // Somebody may have tidied up the system's own, too.
  makeFolder(tmpdir());
  return mkdtempSync(join(tmpdir(), `understudy-uploads-${machine()}-${process.pid}-${started}-`));
}

/**
 * Removes the folders of servers that are gone without having tidied up, as after kill -9. Only what is
 * certainly ours and nobody's any more: a real folder of this user, named by a process of this machine that
 * does not exist now. Whatever cannot be removed stays. Returns what was removed.
 */
export async function sweepOrphanedFolders(parent = tmpdir()): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await readdir(parent).catch(() => [])) {
    const path = join(parent, name);
    if (!isOrphaned(name) || !(await isOwnFolder(path))) continue;
    try {
      await rm(path, { recursive: true, force: true });
      removed.push(name);
    } catch {
      // Perhaps another server that starts at this moment is removing it too.
    }
  }
  return removed;
}

function isOrphaned(name: string): boolean {
  const [, where, pid, started] = NAME.exec(name) ?? [];
  if (where !== machine()) return false;
  return !isProcessAlive(Number(pid), started === UNKNOWN_START ? undefined : started);
}

async function isOwnFolder(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
  } catch {
    return false;
  }
}

/** Process ids say nothing across machines and containers, which may share a temporary folder. */
function machine(): string {
  let namespace = "";
  try {
    namespace = readlinkSync("/proc/self/ns/pid");
  } catch {
    // No Linux, so no namespaces either.
  }
  return createHash("sha256").update(`${hostname()} ${namespace}`).digest("hex").slice(0, 12);
}
