// Starts Redis and nodes, each in its own process, and has a client and helpers for figures.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { Agent, createServer as createHttp, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const BIN = process.env.UNDERSTUDY_BIN ?? fileURLToPath(new URL("../../bin/understudy.js", import.meta.url));
export const TOKEN = "token-of-the-whole-fleet";
export const KEY = "ak_adaOwnerAcme000000000000000000000000000";
const agent = new Agent({ keepAlive: true });
const folder = mkdtempSync(join(tmpdir(), "understudy-fleet-bench-"));
const children = new Set();

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  removeFolder();
});

// A child of a killed Redis that rewrites the file may create one during the removal, and rmSync does not retry then.
function removeFolder(left = 100) {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (left === 0 || error.code !== "ENOTEMPTY") throw error;
    removeFolder(left - 1);
  }
}

export const getSandboxPath = (name) => `/_control/sandboxes/${name}`;

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export async function waitUntil(holds, { every = 5, most = 60_000 } = {}) {
  const end = performance.now() + most;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it has not come about: ${holds}`);
    await pause(every);
  }
}

export async function startRedis(...settings) {
  const port = await freePort();
  const place = mkdtempSync(join(folder, "redis-"));
  const redis = { url: `redis://127.0.0.1:${port}`, place, child: undefined };
  redis.begin = async () => {
    const kept = ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"];
    const where = ["--port", String(port), "--bind", "127.0.0.1", "--dir", place];
    redis.child = spawn("redis-server", [...where, ...kept, ...settings], { stdio: "ignore" });
    children.add(redis.child);
    await waitUntil(
      () =>
        new Promise((resolve) => {
          const ask = spawn("redis-cli", ["-p", String(port), "ping"], {
            stdio: ["ignore", "pipe", "ignore"],
          });
          let said = "";
          ask.stdout.on("data", (bytes) => {
            said += bytes;
          });
          ask.once("close", () => resolve(said.startsWith("PONG")));
        }),
      { every: 20 },
    );
  };
  redis.end = (signal = "SIGKILL") => waitUntilEnded(redis.child, signal);
  /** Truncates the append-only file to this share, as a power loss would. */
  redis.cut = (share) => {
    const log = join(place, "appendonlydir");
    const file = join(
      log,
      readdirSync(log).find((name) => name.endsWith(".incr.aof")),
    );
    truncateSync(file, Math.floor(statSync(file).size * share));
  };
  redis.command = (...words) =>
    new Promise((resolve) => {
      const ask = spawn("redis-cli", ["-p", String(port), ...words], { stdio: "ignore" });
      ask.once("close", resolve);
    });
  await redis.begin();
  return redis;
}

function waitUntilEnded(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return undefined;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return gone;
}

/** Starts a server in its own process; without Redis, it belongs to no fleet. */
export async function startNode(redis, ...args) {
  const port = String(await freePort());
  const file = join(mkdtempSync(join(folder, "node-")), "ready.json");
  const store = redis === undefined ? [] : ["--store", redis.url, "--node-url", `http://127.0.0.1:${port}`];
  const shared = [
    "--shared",
    "--allow-webhook",
    "127.0.0.0/8",
    "--quiet",
    "--no-watch",
    "--ready-file",
    file,
  ];
  const child = spawn(
    process.execPath,
    [
      ...(process.env.PROF ? ["--cpu-prof", "--cpu-prof-dir=/tmp/prof"] : []),
      BIN,
      "start",
      "--port",
      port,
      ...shared,
      ...store,
      ...args,
    ],
    {
      stdio: ["ignore", "ignore", process.env.SHOW ? "inherit" : "ignore"],
      env: { ...process.env, UNDERSTUDY_TOKEN: TOKEN },
    },
  );
  children.add(child);
  await waitUntil(() => existsSync(file) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error("a node ended at its start");
  const { url } = JSON.parse(readFileSync(file, "utf8"));
  return {
    url,
    child,
    signal: (signal) => child.kill(signal),
    stop: (signal = "SIGTERM") => waitUntilEnded(child, signal),
  };
}

/** Sends one request. If the connection breaks, the status is 0. */
export function ask(
  { url },
  method,
  path,
  body,
  headers = { authorization: `Bearer ${TOKEN}` },
  fresh = false,
) {
  return new Promise((resolve) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const json =
      text === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const asked = request(url + path, { method, agent, headers: { ...headers, ...json } }, (answer) => {
      const pieces = [];
      answer.on("data", (piece) => pieces.push(piece));
      answer.once("error", () => resolve({ status: 0 }));
      answer.once("end", () => {
        const said = Buffer.concat(pieces).toString();
        resolve({ status: answer.statusCode, headers: answer.headers, text: said });
      });
    });
    asked.once("error", () => {
      // The server closed a connection that was idle for long.
      if (asked.reusedSocket && !fresh) resolve(ask({ url }, method, path, body, headers, true));
      else resolve({ status: 0 });
    });
    asked.end(text);
  });
}

export const makeDepartment = (id) => ({ id, name: id, organization_id: "org_acme" });

export async function requireStatus(answer, status) {
  const got = await answer;
  if (got.status !== status) throw new Error(`${got.status} instead of ${status}: ${got.text}`);
  return JSON.parse(got.text || "null");
}

export const listIds = async (node, name) =>
  new Set(
    (
      await requireStatus(ask(node, "GET", `${getSandboxPath(name)}/state/departments?limit=1000000`), 200)
    ).items.map(({ id }) => id),
  );

/** Starts a receiver that fails the first attempt of each delivery and records all. */
export async function startReceiver() {
  const attempts = new Map();
  const server = createHttp((received, response) => {
    const id = received.headers["x-service-delivery"];
    const times = attempts.get(id) ?? [];
    attempts.set(id, [...times, performance.now()]);
    received.resume();
    response.writeHead(times.length === 0 ? 500 : 200).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, attempts, close: () => server.close() };
}

/** Starts what the measures of failing owners share: Redis, a receiver, and a node that survives. */
export async function startSetup() {
  const redis = await startRedis();
  const receiver = await startReceiver();
  return { redis, receiver, survivor: await startNode(redis) };
}

/** Creates a sandbox with a webhook and one delivery, which is retried after `wait`. */
export async function createWithRetry(node, name, receiver, wait) {
  const settings = { retry_schedule: [wait, wait, wait] };
  await requireStatus(
    ask(node, "POST", "/_control/sandboxes", { name, clock: { mode: "real" }, settings }),
    201,
  );
  const hook = { url: receiver.url, events: ["user.created"], organization_id: "org_acme" };
  await requireStatus(ask(node, "POST", `${getSandboxPath(name)}/state/webhooks`, hook), 201);
}

export const emit = (node, name) =>
  requireStatus(ask(node, "POST", `${getSandboxPath(name)}/events`, { event: "user.created" }), 200);

export const sortNumbers = (numbers) => [...numbers].sort((a, b) => a - b);
export const computeMedian = (numbers) => sortNumbers(numbers)[Math.floor(numbers.length / 2)];

/** Reads `--name 5` from the command line. */
export function readOption(name, fallback) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

export function printRow(what, figures) {
  process.stdout.write(
    `${what}: ${Object.entries(figures)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}\n`,
  );
}
