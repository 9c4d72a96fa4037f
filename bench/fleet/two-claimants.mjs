// Two nodes get requests at the same time for a sandbox whose owner has died: one becomes its owner, and the epoch
// increases by one.
import { setTimeout as pause } from "node:timers/promises";
import { ask, getSandboxPath, printRow, readOption, requireStatus, startNode, startRedis } from "./setup.mjs";

const ROUNDS = readOption("rounds", 500);
const redis = await startRedis();
const [a, b] = await Promise.all([startNode(redis), startNode(redis)]);
const owner = await startNode(redis);
for (let i = 0; i < ROUNDS; i++)
  await requireStatus(ask(owner, "POST", "/_control/sandboxes", { name: `c${i}` }), 201);
await owner.stop("SIGKILL");
await pause(6000);
let refused = 0;
for (let i = 0; i < ROUNDS; i++) {
  const answers = await Promise.all([a, b].map((node) => ask(node, "GET", getSandboxPath(`c${i}`))));
  refused += answers.filter(({ status }) => status !== 200).length;
}
const { leases } = await requireStatus(ask(a, "GET", "/_control/fleet?limit=100000"), 200);
const mine = leases.filter(({ sandbox }) => sandbox !== "default");
const wrong = mine.filter(({ epoch, node }) => epoch !== 2 || node === null).length;
printRow(`two claimants at once, ${ROUNDS} rounds`, {
  "with more than one owner": wrong,
  "not answered 200": refused,
  "won by the first": mine.filter(({ node }) => node === a.url).length,
});
process.exit(wrong + refused === 0 ? 0 : 1);
