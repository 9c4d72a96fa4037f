// Server on one core, load generator on another: without it the two steal from each other and no ratio holds.
import { execFileSync, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

const hasTaskset = spawnSync("taskset", ["--version"], { stdio: "ignore" }).status === 0;
/** Before this process is pinned, after which it is 1. */
const cores = availableParallelism();
export const pinned = hasTaskset && cores >= 2;
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** [program, arguments] that runs the given program on one core, or unchanged where that is not possible. */
export function onCore(core, program, args) {
  return pinned ? ["taskset", ["-c", String(core), program, ...args]] : [program, args];
}

/** Moves this process (its own client traffic is part of some measures) off the server's core. */
export const pinRunner = () => moveRunner(String(LOAD_CORE));

/** Lets what this process starts use every core, for a measure without a load generator. */
export const unpinRunner = () => moveRunner(`0-${cores - 1}`);

function moveRunner(list) {
  if (pinned) execFileSync("taskset", ["-cp", list, String(process.pid)], { stdio: "ignore" });
}
