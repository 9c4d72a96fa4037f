import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { atMost, makeRow, ratioAtLeast } from "../rows.mjs";
import { computeMedian } from "../statistics.mjs";
import { nodeHttp } from "../subjects/baselines.mjs";
import { asEve, BENCH_FIXTURE, LIMITS } from "../subjects/understudy.mjs";
import { startAll, takeTurns, toTarget } from "../turns.mjs";

export const about = "GET by `fetch` on the engine in this process, without a socket; what a page loads";

const DIST = fileURLToPath(new URL("../../../dist/", import.meta.url));
const WARM_UP = 20_000;
const TURNS = 5;
const REQUESTS = 10_000;

export async function measure(run) {
  const overSocket = await measureNode(run);
  const { createSandbox } = await import(`${DIST}client/engine.js`);
  const sandbox = await createSandbox({ fixture: BENCH_FIXTURE });
  const get = () => sandbox.fetch(LIMITS, { headers: asEve });
  const fixed = await createFixedAnswer(await get());
  const [ours, floor] = [createTimedRun(get), createTimedRun(fixed)];
  for (const subject of [ours, floor]) await subject.turn(WARM_UP);
  for (const subject of [ours, floor]) subject.times.length = subject.speeds.length = 0;
  for (let turn = 0; turn < TURNS; turn++) for (const subject of [ours, floor]) await subject.turn(REQUESTS);
  await sandbox.close();
  const what = "GET in process";
  const makeSpeedRow = (subject, { speeds }, goal) =>
    makeRow({
      ...{ what, subject, value: computeMedian(speeds), unit: "req/s", baseline: "node:http" },
      ...{ ratio: computeMedian(speeds) / overSocket, goal },
    });
  return [
    makeSpeedRow("Understudy", ours, ratioAtLeast(1.5)),
    makeSpeedRow(FLOOR, floor),
    makeRow({
      ...{ what: `p50 of a ${what}`, value: computeMedian(ours.times), unit: "us", goal: atMost(40) },
      ...{ baseline: FLOOR, ratio: computeMedian(ours.times) / computeMedian(floor.times) },
    }),
    toLoadedRow("gzip", gzipSync),
    toLoadedRow("brotli", brotliCompressSync, atMost(250)),
  ];
}

/** The upper bound for `fetch` in a process: the same `Request`, and a `Response` with the same headers and body. */
const FLOOR = "a fixed Response";

async function createFixedAnswer(answer) {
  const headers = [...answer.headers];
  const body = new Uint8Array(await answer.arrayBuffer());
  return async () => {
    const request = new Request(new URL(LIMITS, "http://localhost"), { headers: asEve });
    return new Response(body, { status: request.signal.aborted ? 500 : 200, headers });
  };
}

function createTimedRun(send) {
  const times = [];
  const speeds = [];
  const turn = async (requests) => {
    const begin = performance.now();
    for (let n = 0; n < requests; n++) {
      const start = performance.now();
      const { status } = await send();
      if (status !== 200) throw new Error(`answered ${status}`);
      times.push((performance.now() - start) * 1000);
    }
    speeds.push((requests * 1000) / (performance.now() - begin));
  };
  return { times, speeds, turn };
}

const toLoadedRow = (name, compress, goal) =>
  makeRow({
    what: `loaded by start() in a page, ${name}`,
    subject: "Understudy",
    value: countLoadedKilobytes(compress),
    unit: "KB",
    goal,
  });

async function measureNode(run) {
  const { started } = await startAll([nodeHttp], run.log);
  try {
    const [turns] = await takeTurns(
      started.map(({ subject, server }) => toTarget(subject, server, "get")),
      run,
    );
    return computeMedian(turns.map(({ rps }) => rps));
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

/** The chunks that a page has loaded when `start()` resolves: these and their static imports. */
const LOADED = /^(index|browser-[^.]*)\.js$/;

function countLoadedKilobytes(compress) {
  const folder = `${DIST}browser/`;
  const files = new Set(readdirSync(folder).filter((name) => LOADED.test(name)));
  let bytes = 0;
  for (const name of files) {
    const text = readFileSync(folder + name, "utf8");
    for (const [, imported] of text.matchAll(/(?:from|import)\s*["`]\.\/([^"`]+)["`]/g)) files.add(imported);
    bytes += compress(text).length;
  }
  return bytes / 1024;
}
