// GET and POST are measured alike: all subjects in turn, in one run.
import { notMeasured, ratioAtLeast, row } from "./rows.mjs";
import { median, medianRatio } from "./statistics.mjs";
import { express, frameworks, nodeHttp } from "./subjects/baselines.mjs";
import { peers } from "./subjects/peers.mjs";
import { understudy } from "./subjects/understudy.mjs";
import { startAll, takeTurns, targetOf } from "./turns.mjs";

/** `goals`: {floor, peer} as least ratios to bare `node:http` and to the fastest peer. `extra`: further Understudy subjects. */
export async function throughput({ what, call, goals, extra = [], run }) {
  const candidates = [understudy, ...extra];
  const { started, failed } = await startAll([nodeHttp, ...candidates, ...frameworks, ...peers], run.log);
  try {
    const targets = started.map(({ subject, server }) => targetOf(subject, server, call));
    const turns = await turnsOfWorking({ targets, started, failed, run });
    const results = started.map(({ subject }, index) => ({
      subject,
      speeds: turns[index].map(({ rps }) => rps),
      micros: turns[index].map(({ micros }) => micros),
    }));
    return [
      ...results.filter(({ subject }) => !candidates.includes(subject)).map(informing(what, results)),
      ...results
        .filter(({ subject }) => candidates.includes(subject))
        .flatMap(judged({ what, results, goals })),
      ...failed.map(({ subject, error }) => notMeasured(what, subject.name, error)),
    ];
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

/** Node compiles for some seconds under load, the longer the more code a subject has. */
const WARM_UP_SECONDS = 8;

/** Drops subjects that refuse the load at its warm-up, so that one broken peer does not cost the others their rows. */
async function turnsOfWorking({ targets, started, failed, run }) {
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

const turnsOf = (results, subject) => results.find((result) => result.subject === subject);
const speedsOf = (results, subject) => turnsOf(results, subject)?.speeds;

function informing(what, results) {
  const floor = speedsOf(results, nodeHttp);
  return ({ subject, speeds }) =>
    row({
      what,
      subject: subject.name,
      value: median(speeds),
      unit: "req/s",
      baseline: subject === nodeHttp ? undefined : "node:http",
      ratio: subject === nodeHttp ? undefined : medianRatio(speeds, floor),
    });
}

function judged({ what, results, goals }) {
  return ({ subject, speeds, micros }) => {
    const against = (baseline, name, goal) =>
      baseline &&
      row({
        what,
        subject: subject.name,
        value: median(speeds),
        unit: "req/s",
        baseline: `${name}`,
        ratio: medianRatio(speeds, baseline),
        goal,
      });
    const fastest = results
      .filter((result) => result.subject.kind === "peer")
      .sort((a, b) => median(b.speeds) - median(a.speeds))[0];
    const floor = turnsOf(results, nodeHttp);
    return [
      against(floor?.speeds, "node:http", ratioAtLeast(goals.floor)),
      floor &&
        row({
          what: `processor time of a ${what}`,
          subject: subject.name,
          value: median(micros),
          unit: "us",
          baseline: "node:http",
          ratio: medianRatio(micros, floor.micros),
        }),
      against(speedsOf(results, express), "Express 5"),
      against(fastest?.speeds, `fastest peer (${fastest?.subject.name})`, ratioAtLeast(goals.peer)),
    ].filter(Boolean);
  };
}
