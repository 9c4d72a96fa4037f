import { control } from "../client.mjs";
import { loadOk } from "../load.mjs";
import { atMost, makeRow, ratioAtLeast } from "../rows.mjs";
import { computeMedian, computeMedianRatio } from "../statistics.mjs";
import { asAdaJson, REPARENT, reparentBodies, startUnderstudy } from "../subjects/understudy.mjs";
import { takeTurns } from "../turns.mjs";

export const about = "POST with the history and without it; heap per kept state";

const CASES = [
  { name: "with", history_limit: 1000 },
  { name: "without", history_limit: 0 },
];
const KB = 1024;
/** Turns of each pair per second of `--seconds`. */
const TURNS_A_SECOND = 3;
/** Uncounted turns, in which V8 still compiles on the server's core. */
const WARM_UP_TURNS = 8;

export async function measure(run) {
  const [withIt, without] = await measurePairs(run);
  const bytes = await measureBytesPerState(run);
  return [
    makeRow({
      what: "POST with the history",
      value: computeMedian(withIt.rps),
      unit: "req/s",
      baseline: "history_limit 0",
      ratio: computeMedianRatio(withIt.rps, without.rps),
      goal: ratioAtLeast(0.85),
    }),
    makeRow({
      what: "processor time of a POST with the history",
      value: computeMedian(withIt.micros),
      unit: "us",
      baseline: "history_limit 0",
      ratio: computeMedianRatio(withIt.micros, without.micros),
    }),
    makeRow({ what: "heap per kept state", value: bytes / KB, unit: "KB", goal: atMost(8, "KB") }),
  ];
}

/** Each case has its own server, since both would share V8's heap in one. Each round starts a new pair. */
async function measurePairs({ rounds, seconds, log }) {
  const turns = CASES.map(() => ({ rps: [], micros: [] }));
  for (let round = 1; round <= rounds; round++) {
    // The order of starting alternates.
    const cases = round % 2 === 0 ? CASES.toReversed() : CASES;
    const ofPair = await measurePair(cases, {
      rounds: WARM_UP_TURNS + Math.ceil(TURNS_A_SECOND * seconds),
      seconds: 1,
      warmUpSeconds: 0,
      log: (text) => log(`pair ${round} of ${rounds}: ${text}`),
    });
    for (const [index, one] of cases.entries()) {
      const list = ofPair[index].slice(WARM_UP_TURNS);
      turns[CASES.indexOf(one)].rps.push(...list.map(({ rps }) => rps));
      turns[CASES.indexOf(one)].micros.push(...list.map(({ micros }) => micros));
    }
  }
  return turns;
}

async function measurePair(cases, run) {
  const servers = [];
  for (const { name, history_limit } of cases) {
    const server = await startUnderstudy();
    const api = control(server);
    await api.post("/sandboxes", { name, settings: { history_limit } });
    servers.push({ server, api });
  }
  const targets = cases.map((one, index) => makeTarget(servers[index].server, one));
  const turns = await takeTurns(targets, run);
  for (const [index, { name, history_limit }] of cases.entries()) {
    const { server, api } = servers[index];
    const { total, entries } = await api.get(`/sandboxes/${name}/history?limit=10`);
    if (total > 0 !== history_limit > 0) throw new Error(`${total} entries are kept ${name} the history`);
    // Other entries may come from earlier work that ended in between.
    const moves = entries.filter(({ kind }) => kind === "request");
    if (total > 0 && !moves.every(({ changes }) => changes.departments))
      throw new Error("a move has no change");
    await Promise.all([api.close(), server.stop()]);
  }
  return turns;
}

/**
 * Compares the heap of a full history of moves with that of the same moves without history. Each case has its own
 * server and a journal of one entry, so that nothing else differs.
 */
async function measureBytesPerState({ log }) {
  const held = [];
  for (const one of CASES) {
    log(`filling a history, ${one.name}`);
    const server = await startUnderstudy({ probe: true });
    const api = control(server);
    await api.post("/sandboxes", {
      name: one.name,
      settings: { history_limit: one.history_limit, journal_limit: 1 },
    });
    for (let total; total !== one.history_limit; ) {
      await loadOk(makeTarget(server, one), 1);
      ({ total } = await api.get(`/sandboxes/${one.name}/history?limit=1`));
      if (total > one.history_limit) throw new Error(`${total} entries are kept, not ${one.history_limit}`);
    }
    const full = (await server.ask("memory")).held;
    await api.patch(`/sandboxes/${one.name}`, { settings: { history_limit: 0 } });
    held.push(full - (await server.ask("memory")).held);
    await Promise.all([api.close(), server.stop()]);
  }
  return (held[0] - held[1]) / CASES[0].history_limit;
}

function makeTarget(server, { name }) {
  return {
    name: `POST ${name} the history`,
    pid: server.pid,
    url: server.url,
    paths: [`/_s/${name}${REPARENT}`],
    method: "POST",
    bodies: reparentBodies,
    headers: asAdaJson,
  };
}
