import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { openClient } from "../client.mjs";
import { atLeast, atMost, makeRow } from "../rows.mjs";
import { computeMedian, MB } from "../statistics.mjs";
import { asEve, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "audit export of 10,000 rows, read fast, slowly and not to its end";

const PATH = "/v1/organizations/org_globex/audit-log/export";
const ROWS = 10_000;
const WARM_UP = 3;
const EXPORTS = 60;
// quality: how much memory a slow reader may use, and how soon it is released when the reader disconnects.
const SLOW_BYTES_PER_SECOND = 100_000;
const SLOW_SECONDS = 8;
const SLOW_READERS = 4;
const FORGOTTEN_WITHIN_MS = 1000;

export async function measure({ log }) {
  const server = await startUnderstudy({ probe: true });
  const api = openClient(server.url, asEve);
  for (let index = 0; index < WARM_UP; index++) await timeExport(api);
  const before = await server.ask("memory");
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, server.memory());
  }, 20);
  const exports = [];
  for (let index = 0; index < EXPORTS; index++) {
    log(`export ${index + 1} of ${EXPORTS}`);
    exports.push(await timeExport(api));
  }
  clearInterval(watch);
  const after = await server.ask("memory");
  log(`${SLOW_READERS} slow readers, ${SLOW_SECONDS} s`);
  const slow = await measureSlowReaders(server);
  await Promise.all([api.close(), server.stop()]);
  const computeColumn = (key) => computeMedian(exports.map((one) => one[key]));
  const describeFigure = (text) => `audit export of 10,000 rows, ${text}`;
  return [
    makeRow({
      what: describeFigure("first byte"),
      value: computeColumn("firstByte"),
      unit: "ms",
      goal: atMost(5, "ms"),
    }),
    makeRow({
      what: describeFigure("speed"),
      value: computeColumn("rate"),
      unit: "rows/s",
      goal: atLeast(300_000, "rows/s"),
    }),
    makeRow({
      what: describeFigure("heap held after 60"),
      value: Math.max(0, after.held - before.held) / MB,
      unit: "MB more",
      goal: atMost(5, "MB"),
    }),
    makeRow({
      what: describeFigure("peak memory"),
      value: Math.max(0, peak - before.rss) / MB,
      unit: "MB more",
      goal: atMost(30, "MB"),
    }),
    makeRow({
      what: describeFigure(`memory held by ${SLOW_READERS} readers of 100 KB/s`),
      value: slow.held / MB,
      unit: "MB more",
      goal: atMost(30, "MB"),
    }),
    makeRow({
      what: describeFigure("memory still held a second after they left"),
      value: slow.left / MB,
      unit: "MB more",
      goal: atMost(2, "MB"),
    }),
  ];
}

/** Reads 100 KB/s with several clients. Measures memory in the middle of the export and after they disconnect. */
async function measureSlowReaders(server) {
  const before = await server.ask("memory");
  const { hostname, port } = new URL(server.url);
  const readers = Array.from({ length: SLOW_READERS }, () => openSlowReader(hostname, Number(port)));
  let held = 0;
  for (let second = 0; second < SLOW_SECONDS; second++) {
    await sleep(1000);
    const now = await server.ask("memory");
    held = Math.max(held, now.held - before.held, now.rss - before.rss);
  }
  if (readers.some(({ ended }) => ended())) throw new Error("a slow reader was done before it was measured");
  for (const reader of readers) reader.leave();
  await sleep(FORGOTTEN_WITHIN_MS);
  const after = await server.ask("memory");
  return { held: Math.max(0, held), left: Math.max(0, after.held - before.held) };
}

function openSlowReader(host, port) {
  const socket = connect({ host, port, highWaterMark: 16 * 1024 });
  let done = false;
  socket.on("close", () => {
    done = true;
  });
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: ${host}\r\napi-key: ${asEve["api-key"]}\r\n\r\n`);
  // A paused socket fills the kernel's buffers, so the server has to wait.
  socket.pause();
  const timer = setInterval(() => socket.read(SLOW_BYTES_PER_SECOND / 10), 100);
  return {
    ended: () => done,
    leave() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}

async function timeExport(api) {
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

/** Counts line ends outside quotes, since a quoted cell may contain some. */
function countRows(csv) {
  let rows = 0;
  let quoted = false;
  for (const byte of csv) {
    if (byte === 34) quoted = !quoted;
    else if (byte === 10 && !quoted) rows++;
  }
  return csv.length > 0 && csv.at(-1) !== 10 ? rows + 1 : rows;
}
