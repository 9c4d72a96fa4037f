import { control, openClient, runInParallel } from "../client.mjs";
import { atMost, makeRow } from "../rows.mjs";
import { MB } from "../statistics.mjs";
import { asAda, asEve, LIMITS, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "heap after 50,000 requests with the journal full, and after large bodies";

const WARM_UP = 5000;
const REQUESTS = 50_000;
const LARGE = 100_000;
const LARGE_REQUESTS = 1500;
const ENTRIES = 1000;

export async function measure({ log }) {
  const server = await startUnderstudy({ probe: true });
  const api = openClient(server.url);
  const state = control(server);
  const get = () => api.get(LIMITS, { as: asEve });
  log("filling the journal");
  await runInParallel(WARM_UP, 32, get);
  const full = await server.ask("memory");
  log("50,000 requests");
  await runInParallel(REQUESTS, 32, get);
  const later = await server.ask("memory");
  const { total, dropped } = await state.get("/sandboxes/default/journal?limit=1");
  if (dropped < REQUESTS) throw new Error(`the journal dropped ${dropped} entries: it was not full`);
  log("large bodies");
  // The first requests also allocate memory that does not belong to the journal.
  await runInParallel(WARM_UP, 8, (index) => request(api, index, 1));
  const small = await server.ask("memory");
  await runInParallel(LARGE_REQUESTS, 8, (index) => request(api, index, LARGE));
  const large = await server.ask("memory");
  await Promise.all([api.close(), state.close(), server.stop()]);
  const grown = Math.max(0, later.held - full.held) / MB / (REQUESTS / 10_000);
  return [
    makeRow({
      what: "heap growth, journal full",
      value: grown,
      unit: "MB per 10,000",
      goal: atMost(1, "MB"),
    }),
    makeRow({
      what: "journal entries kept",
      value: total,
      unit: "entries",
      goal: atMost(ENTRIES, "entries"),
    }),
    makeRow({
      what: "heap held by 1,500 requests of 100 KB",
      value: Math.max(0, large.held - small.held) / MB,
      unit: "MB",
      goal: atMost(36, "MB"),
    }),
  ];
}

/** Each body differs, so that entries cannot share strings. Only the first changes the world. */
function request(api, index, length) {
  const body = { new_parent_id: "dept_ops", note: `${index} `.repeat(length / 4 + 1).slice(0, length) };
  return api.post("/v1/organizations/org_acme/departments/dept_infra/reparent", body, { as: asAda });
}
