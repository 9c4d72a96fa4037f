import { client } from "../client.mjs";
import { atLeast, atMost, row } from "../rows.mjs";
import { MB, median } from "../statistics.mjs";
import { asEve, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "audit export of 10,000 rows";

const PATH = "/v1/organizations/org_globex/audit-log/export";
const ROWS = 10_000;
const WARM_UP = 3;
const EXPORTS = 60;

export async function measure({ log }) {
  const server = await startUnderstudy({ probe: true });
  const api = client(server.url, asEve);
  for (let index = 0; index < WARM_UP; index++) await timedExport(api);
  const before = await server.ask("memory");
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, server.memory());
  }, 20);
  const exports = [];
  for (let index = 0; index < EXPORTS; index++) {
    log(`export ${index + 1} of ${EXPORTS}`);
    exports.push(await timedExport(api));
  }
  clearInterval(watch);
  const after = await server.ask("memory");
  await Promise.all([api.close(), server.stop()]);
  const column = (key) => median(exports.map((one) => one[key]));
  const what = (text) => `audit export of 10,000 rows, ${text}`;
  return [
    row({ what: what("first byte"), value: column("firstByte"), unit: "ms", goal: atMost(20, "ms") }),
    row({ what: what("speed"), value: column("rate"), unit: "rows/s", goal: atLeast(100_000, "rows/s") }),
    row({
      what: what("heap held after 60"),
      value: Math.max(0, after.held - before.held) / MB,
      unit: "MB more",
      goal: atMost(5, "MB"),
    }),
    row({
      what: what("peak memory"),
      value: Math.max(0, peak - before.rss) / MB,
      unit: "MB more",
      goal: atMost(30, "MB"),
    }),
  ];
}

async function timedExport(api) {
  const start = performance.now();
  const { statusCode, body } = await api.stream(PATH);
  let firstByte;
  const chunks = [];
  for await (const chunk of body) {
    firstByte ??= performance.now() - start;
    chunks.push(chunk);
  }
  const elapsed = performance.now() - start;
  const text = Buffer.concat(chunks);
  if (statusCode !== 200)
    throw new Error(`the export answered ${statusCode}: ${text.toString().slice(0, 300)}`);
  const rows = countRows(text) - 1;
  if (rows !== ROWS) throw new Error(`the export has ${rows} rows, not ${ROWS}`);
  return { firstByte, rate: (rows / elapsed) * 1000 };
}

/** Line ends outside quotes: a quoted cell may hold its own. */
function countRows(csv) {
  let rows = 0;
  let quoted = false;
  for (const byte of csv) {
    if (byte === 34) quoted = !quoted;
    else if (byte === 10 && !quoted) rows++;
  }
  return csv.length > 0 && csv.at(-1) !== 10 ? rows + 1 : rows;
}
