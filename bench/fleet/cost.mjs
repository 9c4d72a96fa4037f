// What a fleet costs: reads and writes of an owned sandbox beside a server alone, and requests that are passed on.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, KEY, median, must, option, row, S, startNode, startRedis } from "./stand.mjs";

const SECONDS = option("seconds", 3);
const TURNS = option("turns", 5);
const WRITES = option("writes", 1000);
const redis = await startRedis();
const alone = await startNode(undefined);
const owner = await startNode(redis);
const other = await startNode(redis);
// Without a limit of requests: refusals are made dearer than answers.
const organizations = [{ id: "org_acme", plan: "enterprise", rate_limit: 1_000_000_000 }];
for (const node of [alone, owner]) {
  const sandbox = { name: "cost", fixture: { extends: "reference", organizations } };
  await must(ask(node, "POST", "/_control/sandboxes", sandbox), 201);
}

const path = "/_s/cost/v1/analytics/usage/limits/org_acme";
const script = join(redis.place, "get.lua");
writeFileSync(script, `wrk.headers["api-key"] = "${KEY}"\n`);

/** Answers a second; all of them have to be 200. */
function throughput(node) {
  const { stdout } = spawnSync("wrk", ["-t1", "-c32", `-d${SECONDS}s`, "-s", script, node.url + path], {
    encoding: "utf8",
  });
  if (stdout.includes("Non-2xx")) throw new Error(`not everything was answered: ${stdout}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
}

const reads = { alone: [], owned: [], passed: [] };
throughput(alone);
throughput(owner);
throughput(other);
for (let turn = 0; turn < TURNS; turn++) {
  const order = [
    ["alone", alone],
    ["owned", owner],
    ["passed", other],
  ];
  for (const [name, node] of turn % 2 === 0 ? order : order.reverse()) reads[name].push(throughput(node));
}
const ratio = (over, under) => median(reads[over].map((value, i) => value / reads[under][i]));
row(`reads, ${TURNS} turns of ${SECONDS} s, 32 connections`, {
  "a server alone /s": median(reads.alone).toFixed(0),
  "owned /s": median(reads.owned).toFixed(0),
  "owned over alone": ratio("owned", "alone").toFixed(2),
  "passed on /s": median(reads.passed).toFixed(0),
  "passed on over owned": ratio("passed", "owned").toFixed(2),
});

/** Milliseconds of each of so many writes, one after the other. */
async function writes(node) {
  const times = [];
  for (let i = 0; i < WRITES; i++) {
    const began = performance.now();
    const body = { name: `d${i}`, organization_id: "org_acme" };
    await must(ask(node, "POST", `${S("cost")}/state/departments?silent=true`, body), 201);
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
