import { notMeasured, ratioAtMost, row } from "../rows.mjs";
import { median, medianRatio } from "../statistics.mjs";
import { nodeHttp } from "../subjects/baselines.mjs";
import { understudy } from "../subjects/understudy.mjs";
import { startAll, takeTurns, targetOf } from "../turns.mjs";

export const about = "p99 of the answers' times under the load of GET and POST";

/**
 * A turn takes the whole hundredth of its answers that one stop holds up, so that fewer say little; and two go by before V8,
 * whose threads share the server's core, has compiled all.
 */
const FEWEST_TURNS = 9;
const WARM_UP_TURNS = 2;

export async function measure(given) {
  const run = { ...given, rounds: WARM_UP_TURNS + Math.max(FEWEST_TURNS, given.rounds) };
  const { started, failed } = await startAll([nodeHttp, understudy], run.log);
  try {
    const rows = failed.map(({ subject, error }) => notMeasured("p99", subject.name, error));
    for (const call of ["get", "post"]) {
      const targets = started.map(({ subject, server }) => targetOf(subject, server, call));
      const turns = (await takeTurns(targets, run)).map((list) =>
        list.slice(WARM_UP_TURNS).map(({ p99 }) => p99),
      );
      for (const [index, { subject }] of started.entries()) {
        rows.push(p99Row({ call, subject, own: turns[index], floor: turns[0] }));
      }
    }
    return rows;
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

function p99Row({ call, subject, own, floor }) {
  const what = `p99 of ${call.toUpperCase()}`;
  const plain = { what, subject: subject.name, value: median(own), unit: "ms" };
  if (subject === nodeHttp) return row(plain);
  return row({ ...plain, baseline: "node:http", ratio: medianRatio(own, floor), goal: ratioAtMost(2) });
}
