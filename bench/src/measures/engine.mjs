import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { atMost, ratioAtLeast, row } from "../rows.mjs";
import { median } from "../statistics.mjs";
import { nodeHttp } from "../subjects/baselines.mjs";
import { asEve, BENCH_FIXTURE, LIMITS } from "../subjects/understudy.mjs";
import { startAll, takeTurns, targetOf } from "../turns.mjs";

export const about = "GET by `fetch` on the engine in this process, without a socket; what a page loads";

const DIST = fileURLToPath(new URL("../../../dist/", import.meta.url));
const WARM_UP = 20_000;
const TURNS = 5;
const REQUESTS = 10_000;

export async function measure(run) {
  const floor = await speedOfNode(run);
  const { createSandbox } = await import(`${DIST}client/engine.js`);
  const sandbox = await createSandbox({ fixture: BENCH_FIXTURE });
  const times = [];
  const get = async () => {
    const start = performance.now();
    const answer = await sandbox.fetch(LIMITS, { headers: asEve });
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    return (performance.now() - start) * 1000;
  };
  for (let n = 0; n < WARM_UP; n++) await get();
  const speeds = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const start = performance.now();
    for (let n = 0; n < REQUESTS; n++) times.push(await get());
    speeds.push((REQUESTS * 1000) / (performance.now() - start));
  }
  await sandbox.close();
  const what = "GET in process";
  const speed = median(speeds);
  return [
    row({
      what,
      subject: "Understudy",
      value: speed,
      unit: "req/s",
      baseline: "node:http",
      ratio: speed / floor,
      goal: ratioAtLeast(1.5),
    }),
    row({
      what: `p50 of a ${what}`,
      subject: "Understudy",
      value: median(times),
      unit: "us",
      goal: atMost(40),
    }),
    loaded("gzip", gzipSync),
    loaded("brotli", brotliCompressSync, atMost(250)),
  ];
}

const loaded = (name, compress, goal) =>
  row({
    what: `loaded by start() in a page, ${name}`,
    subject: "Understudy",
    value: loadedKilobytes(compress),
    unit: "KB",
    goal,
  });

async function speedOfNode(run) {
  const { started } = await startAll([nodeHttp], run.log);
  try {
    const [turns] = await takeTurns(
      started.map(({ subject, server }) => targetOf(subject, server, "get")),
      run,
    );
    return median(turns.map(({ rps }) => rps));
  } finally {
    await Promise.all(started.map(({ server }) => server.stop()));
  }
}

/** The chunks that a page has loaded once `start()` has resolved: these, and what they import statically. */
const LOADED = /^(index|browser-[^.]*)\.js$/;

function loadedKilobytes(compress) {
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
