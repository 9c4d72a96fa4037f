import { setTimeout as sleep } from "node:timers/promises";
import { atMost, makeRow, toFailedRow } from "../rows.mjs";
import { computeMedian, MB } from "../statistics.mjs";
import { frameworks, nodeHttp } from "../subjects/baselines.mjs";
import { peers } from "../subjects/peers.mjs";
import { startUnderstudy, understudy } from "../subjects/understudy.mjs";
import { startAll } from "../turns.mjs";

export const about = "resident memory two seconds after the first 200, reference world loaded";

const SAMPLES = 3;
const SETTLING_MS = 2000;

export async function measure({ log }) {
  const reference = { ...understudy, start: () => startUnderstudy({ fixture: "reference" }) };
  const sizes = new Map();
  const errors = new Map();
  for (let sample = 0; sample < SAMPLES; sample++) {
    const { started, failed } = await startAll([nodeHttp, ...frameworks, ...peers, reference], log);
    await sleep(SETTLING_MS);
    for (const { subject, server } of started) {
      sizes.set(subject, [...(sizes.get(subject) ?? []), server.memory() / MB]);
    }
    for (const { subject, error } of failed) errors.set(subject, error);
    await Promise.all(started.map(({ server }) => server.stop()));
  }
  return [
    ...[...sizes].map(([subject, own]) =>
      makeRow({
        what: "idle memory",
        subject: subject.name,
        value: computeMedian(own),
        unit: "MB",
        goal: subject === reference ? atMost(90, "MB") : undefined,
      }),
    ),
    ...[...errors].map(([subject, error]) => toFailedRow("idle memory", subject.name, error)),
  ];
}
