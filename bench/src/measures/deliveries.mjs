import { createServer } from "node:http";
import { control, openClient, runInParallel } from "../client.mjs";
import { atLeast, atMost, makeRow, toFailedRow } from "../rows.mjs";
import { computeMedian } from "../statistics.mjs";
import { asAda, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "webhook deliveries to a local receiver, and an advance over 1,000 due retries";

const WEBHOOKS = 20;
const EVENTS = 250;
const RETRIES = 1000;

/** Part of a round that is not counted: a server reaches its speed after about ten thousand deliveries or requests. */
const WARM_UP = 1;

export async function measure({ rounds, log }) {
  const server = await startUnderstudy();
  const receiver = await startReceiver();
  const api = openClient(server.url, asAda);
  const state = control(server);
  const context = { receiver, server, api, state };
  const parts = [
    {
      what: "deliveries to a local receiver",
      part: measureDeliveries,
      unit: "per s",
      goal: atLeast(3000, "per s"),
    },
    { what: "advance over 1,000 due retries", part: measureAdvance, unit: "s", goal: atMost(0.5, "s") },
  ].map((one) => ({ ...one, values: [], error: undefined }));
  for (let round = 1; round <= WARM_UP + rounds; round++) {
    for (const one of parts.filter(({ error }) => error === undefined)) {
      log(`${one.what}, round ${round} of ${WARM_UP + rounds}`);
      try {
        one.values.push(await one.part(context, round));
      } catch (error) {
        one.error = error;
      }
    }
  }
  await Promise.all([api.close(), state.close(), server.stop(), receiver.stop()]);
  return parts.flatMap(({ what, values: [first, ...values], unit, goal, error }) =>
    error !== undefined
      ? [toFailedRow(what, "Understudy", error)]
      : [
          makeRow({ what, value: computeMedian(values), unit, goal }),
          makeRow({ what: `${what}, the first of a server`, value: first, unit }),
        ],
  );
}

/** Starts a receiver in this process, on the load generator's core. */
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

async function createSandboxWithWebhooks({ state, api, receiver }, name, clock) {
  await state.post("/sandboxes", { name, clock });
  for (let index = 0; index < WEBHOOKS; index++) {
    await api.post(`/_s/${name}/webhooks`, { url: receiver.url, events: ["user.created"] });
  }
  return () => state.post(`/sandboxes/${name}/events`, { event: "user.created", for: "usr_dan" });
}

/** Returns deliveries per second. */
async function measureDeliveries(context, round) {
  const { receiver } = context;
  const emit = await createSandboxWithWebhooks(context, `deliveries-${round}`, { mode: "real" });
  receiver.status = 200;
  await runInParallel(20, 8, emit);
  receiver.count = 0;
  const start = performance.now();
  await runInParallel(EVENTS, 8, emit);
  const seconds = (performance.now() - start) / 1000;
  expectCount(receiver, EVENTS * WEBHOOKS);
  return receiver.count / seconds;
}

/** Returns the seconds of an advance that runs all retries. */
async function measureAdvance(context, round) {
  const { receiver, state } = context;
  const name = `retries-${round}`;
  const emit = await createSandboxWithWebhooks(context, name, { mode: "frozen" });
  receiver.status = 503;
  receiver.count = 0;
  await runInParallel(RETRIES / WEBHOOKS, 8, emit);
  expectCount(receiver, RETRIES);
  receiver.status = 200;
  receiver.count = 0;
  const start = performance.now();
  const { ran } = await state.post(`/sandboxes/${name}/clock/advance`, { by: "1m" });
  const seconds = (performance.now() - start) / 1000;
  expectCount(receiver, RETRIES);
  const retried = ran.filter(({ kind }) => kind === "webhook.retry").length;
  if (retried !== RETRIES) throw new Error(`the advance reports ${retried} retries, not ${RETRIES}`);
  return seconds;
}

function expectCount({ count }, expected) {
  if (count !== expected) throw new Error(`the receiver saw ${count} deliveries, not ${expected}`);
}
