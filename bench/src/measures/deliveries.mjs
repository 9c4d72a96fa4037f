import { createServer } from "node:http";
import { client, control, inParallel } from "../client.mjs";
import { atLeast, atMost, notMeasured, row } from "../rows.mjs";
import { asAda, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "webhook deliveries to a local receiver, and an advance over 1,000 due retries";

const WEBHOOKS = 20;
const EVENTS = 250;
const RETRIES = 1000;

export async function measure({ log }) {
  const server = await startUnderstudy();
  const receiver = await startReceiver();
  const api = client(server.url, asAda);
  const state = control(server);
  const context = { receiver, server, api, state, log };
  const rows = [];
  for (const [what, part] of [
    ["deliveries", deliveries],
    ["advance over due retries", advance],
  ]) {
    try {
      rows.push(await part(context));
    } catch (error) {
      rows.push(notMeasured(what, "Understudy", error));
    }
  }
  await Promise.all([api.close(), state.close(), server.stop(), receiver.stop()]);
  return rows;
}

/** A receiver in this process, which runs on the load generator's core. */
async function startReceiver() {
  const receiver = { count: 0, status: 200 };
  const server = createServer((req, res) => {
    req.resume();
    req.on("end", () => {
      receiver.count++;
      res.writeHead(receiver.status, { "content-length": 0 });
      res.end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${server.address().port}/hook`;
  receiver.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return receiver;
}

async function sandboxWithWebhooks({ state, api, receiver }, name, clock) {
  await state.post("/sandboxes", { name, clock });
  for (let index = 0; index < WEBHOOKS; index++) {
    await api.post(`/_s/${name}/webhooks`, { url: receiver.url, events: ["user.created"] });
  }
  return () => state.post(`/sandboxes/${name}/events`, { event: "user.created", for: "usr_dan" });
}

async function deliveries({ log, ...context }) {
  const { receiver } = context;
  const emit = await sandboxWithWebhooks(context, "deliveries", { mode: "real" });
  log("delivering");
  await inParallel(20, 8, emit);
  receiver.count = 0;
  const start = performance.now();
  await inParallel(EVENTS, 8, emit);
  const seconds = (performance.now() - start) / 1000;
  expectCount(receiver, EVENTS * WEBHOOKS);
  const goal = atLeast(3000, "per s");
  return row({
    what: "deliveries to a local receiver",
    value: receiver.count / seconds,
    unit: "per s",
    goal,
  });
}

async function advance({ log, ...context }) {
  const { receiver, state } = context;
  const emit = await sandboxWithWebhooks(context, "retries", { mode: "frozen" });
  receiver.status = 503;
  receiver.count = 0;
  await inParallel(RETRIES / WEBHOOKS, 8, emit);
  expectCount(receiver, RETRIES);
  receiver.status = 200;
  receiver.count = 0;
  log("advancing over 1,000 due retries");
  const start = performance.now();
  const { ran } = await state.post("/sandboxes/retries/clock/advance", { by: "1m" });
  const seconds = (performance.now() - start) / 1000;
  expectCount(receiver, RETRIES);
  const retried = ran.filter(({ kind }) => kind === "webhook.retry").length;
  if (retried !== RETRIES) throw new Error(`the advance reports ${retried} retries, not ${RETRIES}`);
  return row({ what: "advance over 1,000 due retries", value: seconds, unit: "s", goal: atMost(0.5, "s") });
}

function expectCount({ count }, expected) {
  if (count !== expected) throw new Error(`the receiver saw ${count} deliveries, not ${expected}`);
}
