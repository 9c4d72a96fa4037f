import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LOAD_CORE, onCore } from "./pinning.mjs";
import { writeScratchFile } from "./scratch.mjs";

export const hasWrk = spawnSync("wrk", ["-v"], { stdio: "ignore" }).error === undefined;
export const generator = hasWrk ? "wrk -t1 -c32" : "autocannon -c 32 (wrk is not installed)";
const LUA = fileURLToPath(new URL("../wrk/turns.lua", import.meta.url));
const CANNON = fileURLToPath(new URL("./autocannon.mjs", import.meta.url));

/**
 * Loads a server for some seconds over 32 keep-alive connections. `target`: {url, method?, paths, bodies?, headers?,
 * rate?}; paths and bodies are sent in turn, `rate` is in requests per second. Returns {requests, rps, p99 (ms),
 * failed (statuses other than 2xx and 3xx, and broken connections)}.
 */
export async function load(target, seconds) {
  const result =
    hasWrk && target.rate === undefined
      ? await runWrk(target, seconds)
      : await runAutocannon(target, seconds);
  if (!(result.rps > 0)) throw new Error(`no answers from ${target.url}${target.paths[0]}`);
  return result;
}

/** Like `load`, but throws for statuses other than 2xx, since refusals are faster than responses. */
export async function loadOk(target, seconds) {
  const result = await load(target, seconds);
  const share = result.failed / (result.rps * seconds);
  if (share > 0.001) {
    throw new Error(
      `${result.failed} failed answers (${(share * 100).toFixed(1)} %) at ${target.url}${target.paths[0]}`,
    );
  }
  return result;
}

async function runWrk(target, seconds) {
  const writeLines = (values) => writeScratchFile("lines", `${values.join("\n")}\n`);
  const env = { ...process.env, BENCH_METHOD: target.method ?? "GET", BENCH_PATHS: writeLines(target.paths) };
  if (target.bodies) env.BENCH_BODIES = writeLines(target.bodies);
  const headers = Object.entries(target.headers ?? {}).flatMap(([name, value]) => [
    "-H",
    `${name}: ${value}`,
  ]);
  const args = ["-t1", "-c32", `-d${seconds}s`, "--latency", "-s", LUA, ...headers, target.url];
  return parseWrk(await output("wrk", args, env));
}

/** Parses wrk's report. */
function parseWrk(text) {
  const readNumber = (pattern) => Number(pattern.exec(text)?.[1] ?? 0);
  const [, value, unit] = /^\s+99%\s+([\d.]+)(us|ms|s|m)/m.exec(text) ?? [];
  const [, connect = 0, read = 0, write = 0] =
    /Socket errors: connect (\d+), read (\d+), write (\d+)/.exec(text) ?? [];
  return {
    requests: readNumber(/(\d+) requests in/),
    rps: readNumber(/Requests\/sec:\s+([\d.]+)/),
    p99: Number(value ?? Number.NaN) * { us: 0.001, ms: 1, s: 1000, m: 60_000 }[unit ?? "ms"],
    failed: readNumber(/Non-2xx or 3xx responses: (\d+)/) + Number(connect) + Number(read) + Number(write),
  };
}

async function runAutocannon(target, seconds) {
  // A file, since ten thousand paths are too long for an argument.
  const options = writeScratchFile("target", JSON.stringify({ ...target, seconds }));
  return JSON.parse(await output(process.execPath, [CANNON, options], process.env));
}

function output(program, args, env) {
  const [command, all] = onCore(LOAD_CORE, program, args);
  return new Promise((resolve, reject) => {
    const child = spawn(command, all, { env, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    let errors = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`${program} ended with ${code}: ${errors.slice(-400)}`));
    });
  });
}
