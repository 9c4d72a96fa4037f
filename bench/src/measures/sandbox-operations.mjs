import { openRegistry } from "../in-process.mjs";
import { loadOk } from "../load.mjs";
import { atLeast, atMost, makeRow, toFailedRow } from "../rows.mjs";
import { computeMedian } from "../statistics.mjs";
import { controlHeaders, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "create, reset, snapshot, restore and fork inside the server; creations over HTTP";

const BATCHES = 15;
const BATCH = 200;
const FIXTURES = [
  { label: "reference", fixture: { extends: "reference" }, departments: 8 },
  {
    label: "100,000 departments",
    fixture: { extends: "reference", generate: { departments: 100_000 } },
    departments: 100_000,
  },
];

export async function measure(run) {
  const rows = [];
  for (const { label, ...world } of FIXTURES) {
    run.log(`inside the server, ${label}`);
    try {
      rows.push(...(await measureInServer(label, world)));
    } catch (error) {
      rows.push(toFailedRow(`sandbox operations, ${label}`, "Understudy", error));
    }
  }
  return [...rows, ...(await measureOverHttp(run))];
}

async function measureInServer(label, world) {
  const registry = await openRegistry(world);
  const times = new Map();
  const measureTime = async (operation, task) => {
    const start = performance.now();
    for (let index = 0; index < BATCH; index++) await task(index);
    times.set(operation, [...(times.get(operation) ?? []), (performance.now() - start) / BATCH]);
  };
  const repeatTask = async (task) => {
    for (let index = 0; index < BATCH; index++) await task(index);
  };
  try {
    // The first batch warms up the code and builds the fixture; it is removed below.
    for (let batch = 0; batch <= BATCHES; batch++) {
      await measureTime("create", (index) => registry.create(`bench-${index}`));
      await repeatTask((index) => registry.touch(`bench-${index}`));
      await measureTime("snapshot", (index) => registry.snapshot(`bench-${index}`, "before"));
      await repeatTask((index) => registry.touch(`bench-${index}`));
      await measureTime("restore", (index) => registry.restore(`bench-${index}`, "before"));
      await measureTime("fork", (index) => registry.fork(`bench-${index}`, `bench-fork-${index}`));
      await measureTime("reset", (index) => registry.reset(`bench-${index}`));
      await repeatTask((index) => registry.remove(`bench-${index}`));
      await repeatTask((index) => registry.remove(`bench-fork-${index}`));
    }
  } finally {
    await registry.close();
  }
  return [...times].map(([operation, batches]) =>
    makeRow({
      what: `${operation} a sandbox, ${label}`,
      value: computeMedian(batches.slice(1)),
      unit: "ms",
      goal: atMost(0.1, "ms"),
    }),
  );
}

async function measureOverHttp({ rounds, seconds, log }) {
  const speeds = [];
  for (let round = 1; round <= rounds; round++) {
    log(`creations over HTTP, turn ${round} of ${rounds}`);
    // A new server for each turn, since the sandboxes of the turn before would slow it down.
    const server = await startUnderstudy({ fixture: "reference" });
    const target = {
      url: server.url,
      method: "POST",
      paths: ["/_control/sandboxes"],
      bodies: ["{}"],
      headers: controlHeaders(server),
    };
    try {
      speeds.push((await loadOk(target, seconds)).rps);
    } finally {
      await server.stop();
    }
  }
  const goal = atLeast(6000, "per s");
  return [makeRow({ what: "create a sandbox over HTTP", value: computeMedian(speeds), unit: "per s", goal })];
}
