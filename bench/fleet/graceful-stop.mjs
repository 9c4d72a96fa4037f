// Sends SIGTERM to a node that owns 100 sandboxes under load. Clients use another node, as behind a balancer.
import { setTimeout as pause } from "node:timers/promises";
import {
  ask,
  computeMedian,
  getSandboxPath,
  listIds,
  makeDepartment,
  printRow,
  readOption,
  requireStatus,
  startNode,
  startRedis,
} from "./setup.mjs";

const ROUNDS = readOption("rounds", 10);
const SANDBOXES = readOption("sandboxes", 100);
const redis = await startRedis();
const survivor = await startNode(redis);
const longest = [];
let [lost, refused, acknowledged] = [0, 0, 0];
for (let round = 0; round < ROUNDS; round++) {
  const leaving = await startNode(redis);
  const names = Array.from({ length: SANDBOXES }, (_, i) => `g${round}-${i}`);
  for (const name of names) await requireStatus(ask(leaving, "POST", "/_control/sandboxes", { name }), 201);
  let isOver = false;
  let worst = 0;
  const written = new Map(names.map((name) => [name, []]));
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    for (let i = 0; !isOver; i++) {
      const name = names[(writer * 5 + i) % SANDBOXES];
      const id = `dept_${writer}_${i}`;
      const began = performance.now();
      // Retries at once after a refusal: the gap lasts until the write succeeds.
      while (
        (await ask(survivor, "POST", `${getSandboxPath(name)}/state/departments`, makeDepartment(id)))
          .status !== 201
      ) {
        refused += 1;
        await pause(5);
      }
      worst = Math.max(worst, performance.now() - began);
      written.get(name).push(id);
    }
  });
  await pause(500);
  await leaving.stop("SIGTERM");
  await pause(500);
  isOver = true;
  await Promise.all(writers);
  longest.push(worst);
  for (const name of names) {
    const there = await listIds(survivor, name);
    lost += written.get(name).filter((id) => !there.has(id)).length;
    acknowledged += written.get(name).length;
    await requireStatus(ask(survivor, "DELETE", getSandboxPath(name)), 204);
  }
}
printRow(`graceful stop, ${ROUNDS} rounds of ${SANDBOXES} sandboxes`, {
  "acknowledged writes": acknowledged,
  lost,
  "answers that said to come again": refused,
  "longest without an answer, median ms": computeMedian(longest).toFixed(0),
  "worst ms": Math.max(...longest).toFixed(0),
});
process.exit(lost === 0 && Math.max(...longest) < 500 ? 0 : 1);
