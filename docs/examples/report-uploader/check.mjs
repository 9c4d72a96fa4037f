// The application's test, run once per scenario by `understudy suite`. It does not know which scenario is
// active: it checks what must hold under each of them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const run = spawnSync(process.execPath, [here("upload-report.mjs"), here("report.csv")], {
  encoding: "utf8",
  env: { ...process.env, LONGEST_PAUSE_MS: "100" },
  timeout: 30_000,
});
console.log(`${run.stdout}${run.stderr}`.trim());

// How many such files the sandbox has, by the control API.
const response = await fetch(`${process.env.UNDERSTUDY_CONTROL_URL}/state/files?filename=report.csv`, {
  headers: process.env.UNDERSTUDY_TOKEN ? { authorization: `Bearer ${process.env.UNDERSTUDY_TOKEN}` } : {},
});
const { total } = await response.json();

assert.equal(run.signal, null, "the application ends by itself");
assert.ok(
  [0, 3].includes(run.status),
  `it succeeds or says that it was refused, and exits with ${run.status}`,
);
assert.equal(total, run.status === 0 ? 1 : 0, "the report is stored exactly once, or not at all");
