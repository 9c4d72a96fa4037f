import { loadOk } from "./load.mjs";
import { processorTime } from "./processor-time.mjs";

/**
 * Loads several targets in turn (A B C, C B A, ...) after a warm-up of each, and returns, target by target,
 * the list of its turns [{rps, p99, micros}]: `micros` of the processor that the process `pid` had for a request.
 * `targets`: [{name, pid, ...load's target}].
 */
export async function takeTurns(targets, { rounds, seconds, log, warmUpSeconds = 1 }) {
  const turns = targets.map(() => []);
  for (const target of warmUpSeconds > 0 ? targets : []) {
    log(`warming up ${target.name}`);
    await loadOk(target, warmUpSeconds);
  }
  for (let round = 1; round <= rounds; round++) {
    const order = [...targets.entries()];
    // To and fro, so that no target always runs on the caches and compiled code another has warmed.
    if (round % 2 === 0) order.reverse();
    for (const [index, target] of order) {
      log(`turn ${round} of ${rounds}: ${target.name}`);
      turns[index].push(await turnOf(target, seconds));
    }
  }
  return turns;
}

async function turnOf(target, seconds) {
  const before = processorTime(target.pid);
  const result = await loadOk(target, seconds);
  return { ...result, micros: (processorTime(target.pid) - before) / 1000 / result.requests };
}

/** The load generator's target for a subject's `get` or `post`. */
export function targetOf(subject, server, call) {
  const { path, method = call === "get" ? "GET" : "POST", bodies, headers } = subject[call];
  return { name: subject.name, pid: server.pid, url: server.url, paths: [path], method, bodies, headers };
}

/** Starts the subjects one after another; those that fail are returned with their error. */
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
