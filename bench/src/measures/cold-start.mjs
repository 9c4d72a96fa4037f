import { makeRow, ratioAtMost, toFailedRow } from "../rows.mjs";
import { computeMedian, computeMedianRatio } from "../statistics.mjs";
import { express, frameworks, nodeHttp } from "../subjects/baselines.mjs";
import { peers } from "../subjects/peers.mjs";
import { startUnderstudy, understudy } from "../subjects/understudy.mjs";

export const about = "from spawning the process to its first 200, reference world loaded";

const STARTS = 5;
const reference = { ...understudy, start: () => startUnderstudy({ fixture: "reference" }) };

export async function measure({ log }) {
  const subjects = [nodeHttp, ...frameworks, ...peers, reference];
  const times = new Map(subjects.map((subject) => [subject, []]));
  const errors = new Map();
  // The first start of each subject fills the file cache and is not counted.
  for (let turn = 0; turn <= STARTS; turn++) {
    for (const subject of subjects.filter((candidate) => !errors.has(candidate))) {
      log(`start ${turn} of ${STARTS}: ${subject.name}`);
      try {
        const server = await subject.start();
        await server.stop();
        if (turn > 0) times.get(subject).push(server.firstAnswerMs);
      } catch (error) {
        errors.set(subject, error);
      }
    }
  }
  return subjects.map((subject) => {
    if (errors.has(subject)) return toFailedRow("cold start", subject.name, errors.get(subject));
    const own = times.get(subject);
    const plain = { what: "cold start", subject: subject.name, value: computeMedian(own), unit: "ms" };
    if (subject === express) return makeRow(plain);
    const ratio = computeMedianRatio(own, times.get(express));
    const goal = subject === reference ? ratioAtMost(1.6) : undefined;
    return makeRow({ ...plain, baseline: "Express 5", ratio, goal });
  });
}
