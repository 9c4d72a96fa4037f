import { makeRow, ratioAtMost, toFailedRow } from "../rows.mjs";
import { computeMedian, computeMedianRatio } from "../statistics.mjs";
import { nodeHttp } from "../subjects/baselines.mjs";
import { understudy } from "../subjects/understudy.mjs";
import { startAll, takeTurns, toTarget } from "../turns.mjs";

export const about = "p99 of the answers' times at a fixed rate of GET and POST";

/** An open model: requests start at this rate even if earlier ones have no response yet, and a late start counts. */
const RATE_PER_SECOND = 5000;

export async function measure(run) {
  const { started, failed } = await startAll([nodeHttp, understudy], run.log);
  try {
    const rows = failed.map(({ subject, error }) => toFailedRow("p99 at 5,000 req/s", subject.name, error));
    for (const call of ["get", "post"]) {
      const targets = started.map(({ subject, server }) => ({
        ...toTarget(subject, server, call),
        rate: RATE_PER_SECOND,
      }));
      const turns = (await takeTurns(targets, run)).map((list) => list.map(({ p99 }) => p99));
      for (const [index, { subject }] of started.entries())
        rows.push(makeLatencyRow({ call, subject, own: turns[index], floor: turns[0] }));
    }
    return rows;
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

function makeLatencyRow({ call, subject, own, floor }) {
  const what = `p99 of ${call.toUpperCase()} at 5,000 req/s`;
  const plain = { what, subject: subject.name, value: computeMedian(own), unit: "ms" };
  if (subject === nodeHttp) return makeRow(plain);
  return makeRow({
    ...plain,
    baseline: "node:http",
    ratio: computeMedianRatio(own, floor),
    goal: ratioAtMost(3),
  });
}
