import { readdirSync, readFileSync } from "node:fs";

/**
 * Nanoseconds of processor time that a process has had, garbage collection and all (Linux; NaN elsewhere). Other work
 * on the machine leaves it nearly alone, where it halves the requests of a second.
 */
export function processorTime(pid) {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const spent = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8"));
    return spent.reduce((sum, line) => sum + Number(line.split(" ")[0]), 0);
  } catch {
    return Number.NaN;
  }
}
