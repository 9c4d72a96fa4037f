// Under load, Redis restarts, loses a part of its file, is out of memory, or is silent for ten seconds: lost writes,
// what clients get, and the time until they are served again.
import { setTimeout as pause } from "node:timers/promises";
import {
  ask,
  getSandboxPath,
  listIds,
  makeDepartment,
  printRow,
  readOption,
  requireStatus,
  startNode,
  startRedis,
} from "./setup.mjs";

const SANDBOXES = readOption("sandboxes", 20);
const WRITERS = readOption("writers", 5);
const redis = await startRedis();
const owner = await startNode(redis);
const other = await startNode(redis);

const FAULTS = {
  restarted: async () => {
    await redis.end();
    await pause(1000);
    await redis.begin();
  },
  "restarted, the last fifth of its file cut": async () => {
    await redis.end();
    redis.cut(0.8);
    await redis.begin();
  },
  "out of memory for 3 s": async () => {
    await redis.command("CONFIG", "SET", "maxmemory", "1");
    await pause(3000);
    await redis.command("CONFIG", "SET", "maxmemory", "0");
  },
  "silent for 10 s": async () => {
    redis.child.kill("SIGSTOP");
    await pause(10_000);
    redis.child.kill("SIGCONT");
  },
};

let failed = false;
for (const [number, [fault, trigger]] of Object.entries(FAULTS).entries()) {
  const names = Array.from({ length: SANDBOXES }, (_, i) => `f${number}-${i}`);
  const written = new Map(names.map((name) => [name, []]));
  for (const name of names) await requireStatus(ask(owner, "POST", "/_control/sandboxes", { name }), 201);
  let [isOver, refused, unclear] = [false, 0, 0];
  let endedAt = Number.POSITIVE_INFINITY;
  const back = new Map();
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; !isOver; i++) {
      const name = names[(writer + i * WRITERS) % SANDBOXES];
      const id = `dept_${writer}_${i}`;
      const node = i % 2 === 0 ? owner : other;
      const { status, headers } = await ask(
        node,
        "POST",
        `${getSandboxPath(name)}/state/departments`,
        makeDepartment(id),
      );
      if (status === 201) {
        written.get(name).push(id);
        if (performance.now() > endedAt && !back.has(name)) back.set(name, performance.now() - endedAt);
      } else if (
        status === 503 &&
        headers["retry-after"] === "1" &&
        /problem\+json/.test(headers["content-type"])
      ) {
        refused += 1;
        await pause(20);
      } else unclear += 1;
    }
  });
  await pause(1000);
  await trigger();
  endedAt = performance.now();
  const end = endedAt + 30_000;
  while (back.size < SANDBOXES && performance.now() < end) await pause(10);
  isOver = true;
  await Promise.all(writers);
  let [lost, acknowledged] = [0, 0];
  for (const name of names) {
    const there = await listIds(other, name);
    lost += written.get(name).filter((id) => !there.has(id)).length;
    acknowledged += written.get(name).length;
    await requireStatus(ask(other, "DELETE", getSandboxPath(name)), 204);
  }
  failed ||= lost + unclear > 0 || back.size < SANDBOXES;
  printRow(`Redis ${fault}, ${SANDBOXES} sandboxes`, {
    "acknowledged writes": acknowledged,
    lost,
    "503 problems with Retry-After": refused,
    "other refusals": unclear,
    "all served again after, ms": Math.max(...back.values()).toFixed(0),
  });
}
process.exit(failed ? 1 : 0);
