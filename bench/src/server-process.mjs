import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { onCore, SERVER_CORE } from "./pinning.mjs";

const PROBE = fileURLToPath(new URL("./probe.mjs", import.meta.url));
const running = new Set();
const unexpectedOutput = [];

/** Returns the output of servers that ended unexpectedly since the last call: the reason for a broken connection. */
export const takeLastOutput = () => unexpectedOutput.splice(0);

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts `node ARGS` on the server's core. With `probe`, the process loads probe.mjs, which answers questions about
 * its heap and event loop over the IPC channel.
 */
export function startNode({ args, cwd, env, nodeArgs = [], probe = false }) {
  const probeArgs = probe ? ["--expose-gc", "--import", PROBE] : [];
  const [program, all] = onCore(SERVER_CORE, process.execPath, [...probeArgs, ...nodeArgs, ...args]);
  const child = spawn(program, all, {
    cwd,
    env: { ...process.env, NODE_ENV: "production", ...env },
    stdio: ["ignore", "ignore", "pipe", ...(probe ? ["ipc"] : [])],
  });
  const server = { child, pid: child.pid, startedAt: performance.now(), stderr: "", exited: false };
  child.stderr.on("data", (chunk) => {
    server.stderr = (server.stderr + chunk).slice(-4000);
  });
  server.ended = new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", resolve);
  }).then(() => {
    server.exited = true;
    running.delete(server);
    if (!server.stopping)
      unexpectedOutput.push(`${args[0]} ended by itself: ${server.stderr.trim().slice(-600)}`);
  });
  running.add(server);
  server.stop = () => stop(server);
  server.ask = (question, details) => ask(child, question, details);
  server.memory = () => readResidentBytes(child.pid);
  return server;
}

async function stop(server) {
  if (server.exited) return;
  server.stopping = true;
  server.child.kill("SIGTERM");
  const graceful = await Promise.race([server.ended.then(() => true), sleep(5000, false, { ref: false })]);
  if (!graceful) {
    server.child.kill("SIGKILL");
    await server.ended;
  }
}

/** Stops all processes that this run started and a failed measure left running. */
export async function stopAll() {
  await Promise.all([...running].map(stop));
}

let asked = 0;
function ask(child, question, details) {
  const id = ++asked;
  return new Promise((resolve, reject) => {
    const onMessage = (message) => {
      if (message?.bench !== id) return;
      child.off("message", onMessage);
      resolve(message.answer);
    };
    child.on("message", onMessage);
    child.send({ bench: id, question, details }, (error) => error && reject(error));
  });
}

/** Sends one GET without keep-alive. Returns the status, or 0 if nothing listens. */
export function fetchStatus(url, headers = {}) {
  return new Promise((resolve) => {
    const req = request(url, { agent: false, headers }, (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode));
      res.on("error", () => resolve(0));
    });
    req.on("error", () => resolve(0));
    req.end();
  });
}

/** Waits for the first 200. Returns the milliseconds since the process was spawned. */
export async function waitForFirstOk(server, { url, headers, timeoutMs = 120_000 }) {
  for (;;) {
    const code = await fetchStatus(url, headers);
    const elapsed = performance.now() - server.startedAt;
    if (code === 200) return elapsed;
    if (server.exited)
      throw new Error(`the server ended before it answered: ${server.stderr.trim().slice(-600)}`);
    if (elapsed > timeoutMs)
      throw new Error(`no 200 from ${url} within ${timeoutMs} ms (last status ${code})`);
    await sleep(2);
  }
}

/** Returns the resident memory of a process and its children in bytes (Linux; NaN elsewhere). */
export function readResidentBytes(pid) {
  try {
    const own = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return Number(own[1]) * 1024 + children.reduce((sum, child) => sum + (readResidentBytes(child) || 0), 0);
  } catch {
    return Number.NaN;
  }
}
