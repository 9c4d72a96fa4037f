import { control, openClient, runInParallel } from "../client.mjs";
import { atMost, makeRow } from "../rows.mjs";
import { computeMedian, computeMedianRatio, MB } from "../statistics.mjs";
import { asEve, LIMITS, startUnderstudy } from "../subjects/understudy.mjs";
import { takeTurns } from "../turns.mjs";

export const about = "10,000 sandboxes of the reference fixture: memory, and the speed of requests";

const COUNT = 10_000;
/**
 * A fixed number, since each request adds a journal entry: with a fixed time, a faster server would use more memory.
 */
const REQUESTS_EACH = 10;

export async function measure(run) {
  const few = await startServerWith(1, run);
  const many = await startServerWith(COUNT, run);
  const idle = await many.ask("memory");
  const getPath = (index) => `/_s/bench-${index}${LIMITS}`;
  const all = Array.from({ length: COUNT }, (_, index) => getPath(index));
  await sendToEach(many, all, run);
  const used = await many.ask("memory");
  const one = { name: "one sandbox", url: few.url, paths: [getPath(0)], headers: asEve };
  const oneOfMany = { name: "one of 10,000", url: many.url, paths: [getPath(0)], headers: asEve };
  const inTurn = { name: "10,000 in turn", url: many.url, paths: all, headers: asEve };
  // Measured separately: the other target fills 10,000 journals, whose garbage would be collected in the next turn.
  const single = getSpeeds(await takeTurns([one, oneOfMany], run));
  const together = getSpeeds(await takeTurns([one, inTurn], run));
  const makeMemoryRow = (what, memory, most) =>
    makeRow({ what, value: memory.rss / MB, unit: "MB", goal: atMost(most, "MB") });
  const makeSpeedRow = (what, [alone, own], goal) =>
    makeRow({
      what,
      value: computeMedian(own),
      unit: "req/s",
      baseline: "one sandbox",
      ratio: computeMedianRatio(own, alone),
      goal,
    });
  await Promise.all([few.stop(), many.stop()]);
  return [
    makeMemoryRow("10,000 sandboxes, resident memory", idle, 250),
    makeMemoryRow(`10,000 sandboxes, after ${REQUESTS_EACH} requests to each`, used, 600),
    makeSpeedRow("GET to one of 10,000 sandboxes", single),
    makeSpeedRow("GET to 10,000 sandboxes in turn", together),
  ];
}

const getSpeeds = (turns) => turns.map((own) => own.map(({ rps }) => rps));

async function sendToEach({ url }, paths, { log }) {
  log(`sending ${REQUESTS_EACH} requests to each`);
  const api = openClient(url, asEve);
  await runInParallel(paths.length * REQUESTS_EACH, 32, (index) => api.get(paths[index % paths.length]));
  await api.close();
}

async function startServerWith(count, { log }) {
  // The fixture has no rate limits, which would refuse the load; otherwise it is the reference world.
  const server = await startUnderstudy({ probe: true });
  const api = control(server);
  log(`creating ${count} sandboxes`);
  await runInParallel(count, 32, (index) => api.post("/sandboxes", { name: `bench-${index}` }));
  await api.close();
  return server;
}
