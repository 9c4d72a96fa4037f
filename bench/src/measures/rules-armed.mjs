import { control, runInParallel } from "../client.mjs";
import { makeRow, ratioAtLeast } from "../rows.mjs";
import { computeMedian, computeMedianRatio } from "../statistics.mjs";
import { asEve, LIMITS, startUnderstudy } from "../subjects/understudy.mjs";
import { takeTurns } from "../turns.mjs";

export const about = "throughput with 0, 10 and 1,000 rules armed that never trigger";

/** With fewer turns, chance would decide whether the goal is met. */
const FEWEST_TURNS = 9;
const CASES = [
  { count: 0 },
  { count: 10, goal: ratioAtLeast(0.95) },
  { count: 1000, goal: ratioAtLeast(0.95) },
];
const OTHER_OPERATIONS = [
  "departments.reparent",
  "threads.delete",
  "files.*",
  "assistants.list_history",
  "webhooks.create",
  "audit_logs.export",
  "connector_jobs.*",
  "model_responses.create",
];

export async function measure(run) {
  const server = await startUnderstudy();
  const api = control(server);
  for (const { count } of CASES) {
    run.log(`arming ${count} rules`);
    await api.post("/sandboxes", { name: `rules-${count}` });
    await runInParallel(count, 8, (index) => api.post(`/sandboxes/rules-${count}/faults`, makeRule(index)));
  }
  const targets = CASES.map(({ count }) => ({
    name: `${count} rules`,
    url: server.url,
    paths: [`/_s/rules-${count}${LIMITS}`],
    headers: asEve,
  }));
  const rounds = Math.max(FEWEST_TURNS, run.rounds);
  const speeds = (await takeTurns(targets, { ...run, rounds })).map((turns) => turns.map(({ rps }) => rps));
  await checkArmed(api);
  await Promise.all([api.close(), server.stop()]);
  return CASES.map(({ count, goal }, index) =>
    makeRow({
      what: `GET with ${count.toLocaleString("en-US")} rules armed`,
      value: computeMedian(speeds[index]),
      unit: "req/s",
      baseline: goal && "no rules",
      ratio: goal && computeMedianRatio(speeds[index], speeds[0]),
      goal,
    }),
  );
}

/** One rule in five matches the operation under load for another caller, so that matching has work to do. */
function makeRule(index) {
  const match =
    index % 5 === 0
      ? { operation: "usage.retrieve_limits", principal: "usr_ben" }
      : { operation: OTHER_OPERATIONS[index % OTHER_OPERATIONS.length] };
  return { id: `bench-${index}`, match, effect: { delay: "1ms" } };
}

async function checkArmed(api) {
  for (const { count } of CASES) {
    const { items, total } = await api.get(`/sandboxes/rules-${count}/faults`);
    if (total !== count) throw new Error(`${total} rules are armed, not ${count}`);
    if (items.some(({ hits }) => hits > 0)) throw new Error("a rule triggered that should not have");
  }
}
