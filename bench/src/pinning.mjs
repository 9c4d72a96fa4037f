// Server on one core, load generator on another: without it the two steal from each other and no ratio holds.
import { execFileSync, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

const hasTaskset = spawnSync("taskset", ["--version"], { stdio: "ignore" }).status === 0;
export const pinned = hasTaskset && availableParallelism() >= 2;
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** [program, arguments] that runs the given program on one core, or unchanged where that is not possible. */
export function onCore(core, program, args) {
  return pinned ? ["taskset", ["-c", String(core), program, ...args]] : [program, args];
}

/** Moves this process (its own client traffic is part of some measures) off the server's core. */
export function pinRunner() {
  if (pinned) execFileSync("taskset", ["-cp", String(LOAD_CORE), String(process.pid)], { stdio: "ignore" });
}
