import { setTimeout as sleep } from "node:timers/promises";
import { control, openClient } from "../client.mjs";
import { atLeast, atMost, makeRow } from "../rows.mjs";
import { createScratchFolder } from "../scratch.mjs";
import { asAda, BENCH_FIXTURE, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "200 times kill -9 under writes: restarts, and what is lost with and without --durable";

const KILLS = 200;
const WRITERS = 8;
// Kills happen at different times within the second between saves: before, during and after one.
const MIN_RUN_MS = 700;
const MAX_RUN_MS = 1700;

export async function measure({ log }) {
  const outcomes = { durable: [], saved: [] };
  const folders = { durable: createScratchFolder(), saved: createScratchFolder() };
  for (let kill = 1; kill <= KILLS; kill++) {
    const mode = kill % 2 === 0 ? "durable" : "saved";
    log(`kill ${kill} of ${KILLS}, ${mode}`);
    const args = ["--persist", folders[mode], ...(mode === "durable" ? ["--durable"] : [])];
    const serving = MIN_RUN_MS + ((MAX_RUN_MS - MIN_RUN_MS) * kill) / KILLS;
    outcomes[mode].push(await killOnce(args, serving));
  }
  const all = [...outcomes.durable, ...outcomes.saved];
  const lost = outcomes.durable.reduce((sum, { lost }) => sum + lost.length, 0);
  // A spread would have too many arguments on a fast machine.
  const oldest = outcomes.saved.flatMap(({ lost }) => lost).reduce((most, age) => Math.max(most, age), 0);
  const written = outcomes.durable.reduce((sum, { written }) => sum + written, 0);
  return [
    makeRow({
      what: `slowest restart of ${KILLS} after kill -9`,
      value: Math.max(...all.map(({ restartMs }) => restartMs)),
      unit: "ms",
      goal: atMost(2000, "ms"),
    }),
    makeRow({
      what: `acknowledged writes lost with --durable, of ${written}`,
      value: lost,
      unit: "",
      goal: atMost(0, ""),
    }),
    makeRow({ what: "oldest write lost without it", value: oldest, unit: "ms", goal: atMost(1000, "ms") }),
    makeRow({
      what: "fewest writes a second at a kill",
      value: Math.min(...all.map(({ perSecond }) => perSecond)),
      unit: "/s",
      goal: atLeast(200, "/s"),
    }),
  ];
}

/**
 * Writes until the kill, starts again, and looks for the acknowledged writes. `lost` contains the ages of lost ones
 * in milliseconds.
 */
async function killOnce(args, servingMs) {
  const before = await startUnderstudy({ fixture: BENCH_FIXTURE, args });
  const first = control(before);
  await first.post("/sandboxes/default/reset", {});
  await first.close();
  const ledger = keepWriting(before.url);
  await sleep(servingMs);
  const killedAt = performance.now();
  before.stopping = true;
  before.child.kill("SIGKILL");
  await before.ended;
  const acknowledged = await ledger.end();
  const after = await startUnderstudy({ fixture: BENCH_FIXTURE, args });
  const state = control(after);
  try {
    const { items } = await state.get("/sandboxes/default/state/webhooks?limit=1000000");
    const kept = new Set(items.map(({ id, webhook_id }) => webhook_id ?? id));
    const lost = acknowledged.filter(({ id }) => !kept.has(id)).map(({ at }) => killedAt - at);
    return {
      restartMs: after.firstAnswerMs,
      written: acknowledged.length,
      perSecond: acknowledged.length / (servingMs / 1000),
      lost,
    };
  } finally {
    await state.close();
    await after.stop();
  }
}

/** Registers webhooks, one record each, and records those that were acknowledged. */
function keepWriting(url) {
  const api = openClient(url, asAda);
  const acknowledged = [];
  let running = true;
  const keepWriting = async () => {
    for (let made = 0; running; made++) {
      const body = { url: `http://127.0.0.1:9/${made}`, events: ["file.uploaded"] };
      const { data } = await api.post("/webhooks", body);
      acknowledged.push({ id: data.webhook_id ?? data.id, at: performance.now() });
    }
  };
  // The kill breaks the connections of all writers.
  const done = Promise.all(Array.from({ length: WRITERS }, () => keepWriting().catch(() => {})));
  return {
    async end() {
      running = false;
      await done;
      await api.close();
      return acknowledged;
    },
  };
}
