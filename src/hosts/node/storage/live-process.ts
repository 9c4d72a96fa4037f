import { readFileSync } from "node:fs";

/** When a process began, in ticks since boot, where the system tells (Linux). */
export function startOfProcess(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

/**
 * Whether the process that had this id when it began at `started` is still there: the id may have been given
 * to somebody else since. In doubt it is.
 */
export function isProcessAlive(pid: number, started: string | undefined): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process may not be signalled, but is there.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
  const present = startOfProcess(pid);
  return started === undefined || present === undefined || started === present;
}
