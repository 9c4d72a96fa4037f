// Runs the server and the load generator on different cores. On the same one, they slow each other down and ratios
// vary.
import { execFileSync, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

const hasTaskset = spawnSync("taskset", ["--version"], { stdio: "ignore" }).status === 0;
/** The number of cores, read before this process is pinned; afterwards it would be 1. */
const cores = availableParallelism();
export const pinned = hasTaskset && cores >= 2;
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** Returns [program, arguments] that run a program on one core, or unchanged if that is impossible. */
export function onCore(core, program, args) {
  return pinned ? ["taskset", ["-c", String(core), program, ...args]] : [program, args];
}

/** Moves this process off the server's core, since some measures use it as a client. */
export const pinRunner = () => moveRunner(String(LOAD_CORE));

/** Lets processes that this one starts use all cores, for a measure without a load generator. */
export const unpinRunner = () => moveRunner(`0-${cores - 1}`);

function moveRunner(list) {
  if (pinned) execFileSync("taskset", ["-cp", list, String(process.pid)], { stdio: "ignore" });
}
