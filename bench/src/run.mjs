// npm run bench [-- MEASURES] [--rounds 3] [--seconds 3] [--strict]
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { generator } from "./load.mjs";
import { LOAD_CORE, pinned, pinRunner, SERVER_CORE } from "./pinning.mjs";
import { toFailedRow } from "./rows.mjs";
import { stopAll, takeLastOutput } from "./server-process.mjs";
import { toMarkdownTable, toTextTable } from "./table.mjs";

// The order of the table. Other measures run last.
const ORDER = [
  "get",
  "post",
  "latency",
  "cold-start",
  "idle-memory",
  "sandbox-operations",
  "ten-thousand-sandboxes",
];
const measures = readdirSync(new URL("./measures/", import.meta.url))
  .map((file) => file.replace(/\.mjs$/, ""))
  .sort((a, b) => (ORDER.indexOf(a) + 1 || 99) - (ORDER.indexOf(b) + 1 || 99));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    strict: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (positionals[0] === "profile") {
  const { profile } = await import("./profile.mjs");
  process.exit(await profile(positionals.slice(1)));
}
const unknown = positionals.filter((name) => !measures.includes(name));
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`Unknown measure: ${unknown.join(", ")}`);
  console.error(`Usage: npm run bench -- [${measures.join(" ")}] [--rounds 3] [--seconds 3] [--strict]`);
  console.error("       npm run bench -- profile CALL");
  process.exit(unknown.length > 0 ? 2 : 0);
}

const started = performance.now();
const heading = [
  `Node ${process.version}, ${cpus()[0]?.model.trim() ?? "unknown processor"}, ${cpus().length} cores`,
  `${generator} -d${values.seconds}s, keep-alive, medians of ${values.rounds} turns`,
  pinned
    ? `server on core ${SERVER_CORE}, load on core ${LOAD_CORE}`
    : "nothing pinned (no taskset or one core)",
].join("; ");
console.log(`${heading}\n`);
pinRunner();
process.once("SIGINT", async () => {
  await stopAll();
  process.exit(130);
});

const chosen = positionals.length > 0 ? positionals : measures;
const rows = [];
for (const [index, name] of chosen.entries()) {
  const prefix = `[${index + 1}/${chosen.length}] ${name}`;
  const { about, measure } = await import(`./measures/${name}.mjs`);
  printProgress(`${prefix}: ${about}`);
  const run = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    log: (text) => printProgress(`${prefix}: ${text}`),
  };
  try {
    rows.push(...(await measure(run)));
  } catch (error) {
    rows.push(
      toFailedRow(name, "Understudy", [String(error?.message ?? error), ...takeLastOutput()].join("; ")),
    );
  } finally {
    await stopAll();
  }
}
printProgress("");
report();
// A failed measure may have left sockets open, which would keep the process alive.
process.exit();

/** Prints a line that overwrites itself on a terminal, or one line per call elsewhere. */
function printProgress(text) {
  if (process.stderr.isTTY)
    process.stderr.write(`\r\x1b[2K${text.slice(0, (process.stderr.columns ?? 100) - 1)}`);
  else if (text) process.stderr.write(`${text}\n`);
}

function report() {
  const seconds = Math.round((performance.now() - started) / 1000);
  const judged = rows.filter(({ met }) => met !== null);
  const missing = rows.filter(({ value }) => value === null).length;
  const summary = `${judged.filter(({ met }) => met).length} of ${judged.length} goals met, ${missing} rows not measured, ${seconds} s`;
  console.log(`${toTextTable(rows)}\n\n${summary}`);
  const folder = new URL("../results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const details = rows.filter(({ note }) => note).map((one) => `- ${one.what}, ${one.subject}: ${one.note}`);
  const notes = details.length > 0 ? `\n\nNotes\n\n${details.join("\n")}` : "";
  writeFileSync(
    new URL("latest.md", folder),
    `${heading}\n\n${toMarkdownTable(rows)}\n\n${summary}${notes}\n`,
  );
  writeFileSync(new URL("latest.json", folder), `${JSON.stringify({ heading, rows }, null, 2)}\n`);
  if (values.strict && (missing > 0 || judged.some(({ met }) => !met))) process.exitCode = 1;
}
