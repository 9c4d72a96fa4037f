// Measures GET and POST in the same way: all subjects in turn, in one run.
import { makeRow, ratioAtLeast, toFailedRow } from "./rows.mjs";
import { computeMedian, computeMedianRatio } from "./statistics.mjs";
import { express, frameworks, nodeHttp } from "./subjects/baselines.mjs";
import { peers } from "./subjects/peers.mjs";
import { understudy } from "./subjects/understudy.mjs";
import { startAll, takeTurns, toTarget } from "./turns.mjs";

/**
 * `goals`: {floor, peer}, the least ratios to bare `node:http` and to the fastest peer. `extra`: more Understudy
 * subjects.
 */
export async function measureThroughput({ what, call, goals, extra = [], run }) {
  const candidates = [understudy, ...extra];
  const { started, failed } = await startAll([nodeHttp, ...candidates, ...frameworks, ...peers], run.log);
  try {
    const targets = started.map(({ subject, server }) => toTarget(subject, server, call));
    const turns = await measureWorking({ targets, started, failed, run });
    const results = started.map(({ subject }, index) => ({
      subject,
      speeds: turns[index].map(({ rps }) => rps),
      micros: turns[index].map(({ micros }) => micros),
    }));
    return [
      ...results.filter(({ subject }) => !candidates.includes(subject)).map(toInfoRows(what, results)),
      ...results
        .filter(({ subject }) => candidates.includes(subject))
        .flatMap(toJudgedRows({ what, results, goals })),
      ...failed.map(({ subject, error }) => toFailedRow(what, subject.name, error)),
    ];
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

/** Node compiles for some seconds under load, longer if a subject has more code. */
const WARM_UP_SECONDS = 8;

/** Drops subjects that fail in their warm-up, so that a broken peer does not prevent the rows of the others. */
async function measureWorking({ targets, started, failed, run }) {
  for (let index = targets.length - 1; index >= 0; index--) {
    try {
      await takeTurns([targets[index]], { ...run, rounds: 0, warmUpSeconds: WARM_UP_SECONDS });
    } catch (error) {
      failed.push({ subject: started[index].subject, error });
      await started[index].server.stop();
      started.splice(index, 1);
      targets.splice(index, 1);
    }
  }
  return takeTurns(targets, { ...run, warmUpSeconds: 0 });
}

const getTurns = (results, subject) => results.find((result) => result.subject === subject);
const getSpeeds = (results, subject) => getTurns(results, subject)?.speeds;

function toInfoRows(what, results) {
  const floor = getSpeeds(results, nodeHttp);
  return ({ subject, speeds }) =>
    makeRow({
      what,
      subject: subject.name,
      value: computeMedian(speeds),
      unit: "req/s",
      baseline: subject === nodeHttp ? undefined : "node:http",
      ratio: subject === nodeHttp ? undefined : computeMedianRatio(speeds, floor),
    });
}

function toJudgedRows({ what, results, goals }) {
  return ({ subject, speeds, micros }) => {
    const compareWith = (baseline, name, goal) =>
      baseline &&
      makeRow({
        what,
        subject: subject.name,
        value: computeMedian(speeds),
        unit: "req/s",
        baseline: `${name}`,
        ratio: computeMedianRatio(speeds, baseline),
        goal,
      });
    const fastest = results
      .filter((result) => result.subject.kind === "peer")
      .sort((a, b) => computeMedian(b.speeds) - computeMedian(a.speeds))[0];
    const floor = getTurns(results, nodeHttp);
    return [
      compareWith(floor?.speeds, "node:http", ratioAtLeast(goals.floor)),
      floor &&
        makeRow({
          what: `processor time of a ${what}`,
          subject: subject.name,
          value: computeMedian(micros),
          unit: "us",
          baseline: "node:http",
          ratio: computeMedianRatio(micros, floor.micros),
        }),
      compareWith(getSpeeds(results, express), "Express 5"),
      compareWith(fastest?.speeds, `fastest peer (${fastest?.subject.name})`, ratioAtLeast(goals.peer)),
    ].filter(Boolean);
  };
}
