import { CALLS, headersOf, startForCalls } from "../calls.mjs";
import { client, inParallel } from "../client.mjs";
import { atMost, row } from "../rows.mjs";
import { nodeHttp } from "../subjects/baselines.mjs";

export const about = "bytes allocated, and bytes that outlive the young generation, per request";

const WARM_UP = 4000;
const REQUESTS = 12_000;
const WIDTH = 32;
/** quality 1: beyond what the journal keeps, of which the journal's own figure is measured beside it. */
const MAX_SURVIVING_BYTES = 300;

export async function measure({ log }) {
  const rows = [];
  const bare = await nodeHttp.start({ probe: true });
  for (const call of ["get", "post"]) {
    log(`node:http, ${call.toUpperCase()}`);
    const { path, headers: as, bodies: texts } = nodeHttp[call];
    const figures = await garbageOf(bare, {
      path,
      method: call,
      as,
      bodies: texts?.map((text) => JSON.parse(text)),
      status: 200,
    });
    rows.push(...rowsOf(call.toUpperCase(), "node:http", figures));
  }
  await bare.stop();
  const server = await startForCalls();
  // A journal that is full lets go of an entry for each that it takes, as it does nearly all its life.
  for (const call of CALLS) {
    log(`Understudy, ${call.name}`);
    const figures = await garbageOf(server, { ...call, as: headersOf(call, server) });
    rows.push(...rowsOf(call.name, "Understudy", figures, call.name === "GET"));
  }
  await server.stop();
  return rows;
}

async function garbageOf(server, { path, method = "get", as, bodies = [undefined], status }) {
  const api = client(server.url, as);
  const options = { ok: [status, 200] };
  let sent = 0;
  const send = () => {
    const body = bodies[sent++ % bodies.length];
    return method === "get" ? api.get(path, options) : api.post(path, body, options);
  };
  await inParallel(WARM_UP, WIDTH, send);
  const figures = {};
  for (const survivors of [false, true]) {
    await server.ask("memory");
    await server.ask("startAllocations", { survivors });
    await inParallel(REQUESTS, WIDTH, send);
    const { total } = await server.ask("allocations");
    figures[survivors ? "surviving" : "allocated"] = total / REQUESTS;
  }
  await api.close();
  return figures;
}

function rowsOf(name, subject, { allocated, surviving }, judged = false) {
  return [
    row({ what: `${name}: allocated`, subject, value: Math.round(allocated), unit: "bytes a request" }),
    row({
      what: `${name}: surviving`,
      subject,
      value: Math.round(surviving),
      unit: "bytes a request",
      goal: judged ? atMost(MAX_SURVIVING_BYTES, "bytes") : undefined,
    }),
  ];
}
