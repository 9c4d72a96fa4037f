import { loadOk } from "./load.mjs";
import { readProcessorTime } from "./processor-time.mjs";

/**
 * Loads several targets in turn (A B C, C B A, ...) after a warm-up of each. Returns for each target the list of its
 * turns [{rps, p99, micros}]: `micros` is the processor time of the process `pid` per request. `targets`: [{name,
 * pid, ...target of load}].
 */
export async function takeTurns(targets, { rounds, seconds, log, warmUpSeconds = 1 }) {
  const turns = targets.map(() => []);
  for (const target of warmUpSeconds > 0 ? targets : []) {
    log(`warming up ${target.name}`);
    await loadOk(target, warmUpSeconds);
  }
  for (let round = 1; round <= rounds; round++) {
    const order = [...targets.entries()];
    // Alternates the order, so that no target always profits from caches and code that another has warmed.
    if (round % 2 === 0) order.reverse();
    for (const [index, target] of order) {
      log(`turn ${round} of ${rounds}: ${target.name}`);
      turns[index].push(await runTurn(target, seconds));
    }
  }
  return turns;
}

async function runTurn(target, seconds) {
  const before = readProcessorTime(target.pid);
  const result = await loadOk(target, seconds);
  return { ...result, micros: (readProcessorTime(target.pid) - before) / 1000 / result.requests };
}

/** Returns the load generator's target for a subject's `get` or `post`. */
export function toTarget(subject, server, call) {
  const { path, method = call === "get" ? "GET" : "POST", bodies, headers } = subject[call];
  return { name: subject.name, pid: server.pid, url: server.url, paths: [path], method, bodies, headers };
}

/** Starts the subjects one after another. Returns failed ones with their errors. */
export async function startAll(subjects, log) {
  const started = [];
  const failed = [];
  for (const subject of subjects) {
    log(`starting ${subject.name}`);
    try {
      started.push({ subject, server: await subject.start() });
    } catch (error) {
      failed.push({ subject, error });
    }
  }
  return { started, failed };
}
