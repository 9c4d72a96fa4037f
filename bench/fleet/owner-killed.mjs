// Kills the owner of 100 sandboxes (kill -9) under 500 writes a second: lost writes, the time without responses, and
// overdue retries.
import { setTimeout as pause } from "node:timers/promises";
import {
  ask,
  computeMedian,
  createWithRetry,
  emit,
  getSandboxPath,
  listIds,
  makeDepartment,
  printRow,
  readOption,
  requireStatus,
  startNode,
  startSetup,
  waitUntil,
} from "./setup.mjs";

const ROUNDS = readOption("rounds", 20);
const SANDBOXES = readOption("sandboxes", 100);
const PER_SECOND = readOption("rate", 500);
const { redis, receiver, survivor } = await startSetup();
const gaps = [];
let [lost, acknowledged, missed, doubled] = [0, 0, 0, 0];

for (let round = 0; round < ROUNDS; round++) {
  const victim = await startNode(redis);
  const names = Array.from({ length: SANDBOXES }, (_, i) => `r${round}-${i}`);
  for (const name of names) await createWithRetry(victim, name, receiver, "2s");
  const written = new Map(names.map((name) => [name, new Set()]));
  const back = new Map();
  let killedAt = Number.POSITIVE_INFINITY;
  let isOver = false;
  const started = performance.now();
  const under = [];
  const writer = (async () => {
    for (let i = 0; !isOver; i++) {
      const wait = started + (i * 1000) / PER_SECOND - performance.now();
      if (wait > 1) await pause(wait);
      const name = names[i % SANDBOXES];
      const id = `dept_${i}`;
      under.push(
        ask(survivor, "POST", `${getSandboxPath(name)}/state/departments`, makeDepartment(id)).then(
          ({ status }) => {
            if (status !== 201) return;
            written.get(name).add(id);
            if (performance.now() > killedAt && !back.has(name)) back.set(name, performance.now() - killedAt);
          },
        ),
      );
    }
  })();
  await pause(1000);
  const before = receiver.attempts.size;
  await Promise.all(names.map((name) => emit(victim, name)));
  killedAt = performance.now();
  await victim.stop("SIGKILL");
  await waitUntil(() => back.size === SANDBOXES, { most: 30_000 });
  await pause(500);
  isOver = true;
  await writer;
  await Promise.all(under);
  const mine = [...receiver.attempts.keys()].slice(before);
  await waitUntil(() => mine.every((id) => receiver.attempts.get(id).length >= 2), { most: 20_000 }).catch(
    () => {},
  );
  missed += SANDBOXES - mine.filter((id) => receiver.attempts.get(id).length >= 2).length;
  doubled += mine.filter((id) => receiver.attempts.get(id).length > 2).length;
  gaps.push(Math.max(...back.values()));
  for (const name of names) {
    const there = await listIds(survivor, name);
    for (const id of written.get(name)) if (!there.has(id)) lost += 1;
    acknowledged += written.get(name).size;
  }
  for (const name of names) await requireStatus(ask(survivor, "DELETE", getSandboxPath(name)), 204);
}
printRow(`owner killed, ${ROUNDS} rounds of ${SANDBOXES} sandboxes at ${PER_SECOND} writes/s`, {
  "acknowledged writes": acknowledged,
  lost,
  "until all are served again, median s": (computeMedian(gaps) / 1000).toFixed(1),
  "worst s": (Math.max(...gaps) / 1000).toFixed(1),
  "retries due": ROUNDS * SANDBOXES,
  missed,
  "sent again by the new owner": doubled,
});
await survivor.stop();
process.exit(lost + missed === 0 && Math.max(...gaps) < 7000 ? 0 : 1);
