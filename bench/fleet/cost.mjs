// The cost of a fleet: reads and writes of an owned sandbox compared with a single server, and proxied requests.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readProcessorTime } from "../src/processor-time.mjs";
import {
  ask,
  computeMedian,
  getSandboxPath,
  KEY,
  printRow,
  readOption,
  requireStatus,
  startNode,
  startRedis,
} from "./setup.mjs";

// Many short turns, so that other work on the machine affects both sides of a ratio, or only a few turns.
const SECONDS = readOption("seconds", 1);
const TURNS = readOption("turns", 21);
const WRITES = readOption("writes", 1000);
// Long enough to compile the code, and for what a node prepares half a second after its start.
const WARM_UP_SECONDS = 4;
const redis = await startRedis();
const alone = await startNode(undefined);
const owner = await startNode(redis);
const other = await startNode(redis);
// No rate limit, since refusals cost more than responses.
const organizations = [{ id: "org_acme", plan: "enterprise", rate_limit: 1_000_000_000 }];
for (const node of [alone, owner]) {
  const sandbox = { name: "cost", fixture: { extends: "reference", organizations } };
  await requireStatus(ask(node, "POST", "/_control/sandboxes", sandbox), 201);
}

const path = "/_s/cost/v1/analytics/usage/limits/org_acme";
const script = join(redis.place, "get.lua");
writeFileSync(script, `wrk.headers["api-key"] = "${KEY}"\n`);

/** Returns responses per second, and microseconds of processor time for each. All must be 200. */
function load(node, seconds = SECONDS) {
  const before = readProcessorTime(node.child.pid);
  const { stdout } = spawnSync("wrk", ["-t1", "-c32", `-d${seconds}s`, "-s", script, node.url + path], {
    encoding: "utf8",
  });
  if (stdout.includes("Non-2xx")) throw new Error(`not everything was answered: ${stdout}`);
  const answers = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  return {
    rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    cost: (readProcessorTime(node.child.pid) - before) / 1000 / answers,
  };
}

const reads = { alone: [], owned: [], passed: [] };
for (const node of [alone, owner, other]) load(node, WARM_UP_SECONDS);
for (let turn = 0; turn < TURNS; turn++) {
  const order = [
    ["alone", alone],
    ["owned", owner],
    ["passed", other],
  ];
  for (const [name, node] of turn % 2 === 0 ? order : order.reverse()) reads[name].push(load(node));
}
const computeFigure = (name, what) => computeMedian(reads[name].map((read) => read[what]));
const computeRatio = (over, under, what) =>
  computeMedian(reads[over].map((read, i) => read[what] / reads[under][i][what])).toFixed(2);
printRow(`reads, ${TURNS} turns of ${SECONDS} s, 32 connections`, {
  "a server alone /s": computeFigure("alone", "rate").toFixed(0),
  "owned /s": computeFigure("owned", "rate").toFixed(0),
  "owned over alone": computeRatio("owned", "alone", "rate"),
  "passed on /s": computeFigure("passed", "rate").toFixed(0),
  "passed on over owned": computeRatio("passed", "owned", "rate"),
});
printRow("microseconds of the processor for a read", {
  "a server alone": computeFigure("alone", "cost").toFixed(1),
  owned: computeFigure("owned", "cost").toFixed(1),
  "owned over alone": computeRatio("owned", "alone", "cost"),
  "passing on": computeFigure("passed", "cost").toFixed(1),
});

/** Returns the milliseconds of each write; writes are sequential. */
async function writes(node) {
  const times = [];
  for (let i = 0; i < WRITES; i++) {
    const began = performance.now();
    const body = { name: `d${i}`, organization_id: "org_acme" };
    await requireStatus(
      ask(node, "POST", `${getSandboxPath("cost")}/state/departments?silent=true`, body),
      201,
    );
    times.push(performance.now() - began);
  }
  return times;
}
await writes(alone);
await writes(owner);
const [of_alone, of_owner] = [await writes(alone), await writes(owner)];
printRow(`writes, ${WRITES} one after the other`, {
  "a server alone, p50 ms": computeMedian(of_alone).toFixed(2),
  "owned, p50 ms": computeMedian(of_owner).toFixed(2),
  "more, ms": (computeMedian(of_owner) - computeMedian(of_alone)).toFixed(2),
});
process.exit(0);
