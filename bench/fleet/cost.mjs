// The cost of a fleet: reads and writes of an owned sandbox compared with a single server, and proxied requests.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readProcessorTime } from "../src/processor-time.mjs";
import { ask, KEY, median, option, requireStatus, row, S, startNode, startRedis } from "./setup.mjs";

// Many short turns, so that other work on the machine affects both sides of a ratio, or only a few turns.
const SECONDS = option("seconds", 1);
const TURNS = option("turns", 21);
const WRITES = option("writes", 1000);
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
const of = (name, what) => median(reads[name].map((read) => read[what]));
const ratio = (over, under, what) =>
  median(reads[over].map((read, i) => read[what] / reads[under][i][what])).toFixed(2);
row(`reads, ${TURNS} turns of ${SECONDS} s, 32 connections`, {
  "a server alone /s": of("alone", "rate").toFixed(0),
  "owned /s": of("owned", "rate").toFixed(0),
  "owned over alone": ratio("owned", "alone", "rate"),
  "passed on /s": of("passed", "rate").toFixed(0),
  "passed on over owned": ratio("passed", "owned", "rate"),
});
row("microseconds of the processor for a read", {
  "a server alone": of("alone", "cost").toFixed(1),
  owned: of("owned", "cost").toFixed(1),
  "owned over alone": ratio("owned", "alone", "cost"),
  "passing on": of("passed", "cost").toFixed(1),
});

/** Returns the milliseconds of each write; writes are sequential. */
async function writes(node) {
  const times = [];
  for (let i = 0; i < WRITES; i++) {
    const began = performance.now();
    const body = { name: `d${i}`, organization_id: "org_acme" };
    await requireStatus(ask(node, "POST", `${S("cost")}/state/departments?silent=true`, body), 201);
    times.push(performance.now() - began);
  }
  return times;
}
await writes(alone);
await writes(owner);
const [of_alone, of_owner] = [await writes(alone), await writes(owner)];
row(`writes, ${WRITES} one after the other`, {
  "a server alone, p50 ms": median(of_alone).toFixed(2),
  "owned, p50 ms": median(of_owner).toFixed(2),
  "more, ms": (median(of_owner) - median(of_alone)).toFixed(2),
});
process.exit(0);
