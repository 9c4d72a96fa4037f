// Grades correct clients in four languages. Each must pass without warnings other than the listed ones:
//   node matrix/clients.mjs [NAME ...]
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("clients/", import.meta.url));
const understudy = fileURLToPath(new URL("../bin/understudy.js", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "understudy-clients-"));

const node = (name) => [process.execPath, join(folder, `${name}.mjs`)];

/** The command, a probe for its language, and warnings that are justified. */
const CLIENTS = {
  fetch: { command: node("fetch") },
  got: { command: node("got") },
  ky: { command: node("ky") },
  "axios-retry": { command: node("axios-retry") },
  // It has no option for random pauses.
  "undici-retry-agent": { command: node("undici-retry-agent"), warnings: ["jittered-pauses"] },
  "tanstack-query": { command: node("tanstack-query") },
  "requests-urllib3": {
    probe: ["python3", "-c", "import requests; from urllib3.util import Retry; Retry(backoff_jitter=1)"],
    command: ["python3", join(folder, "requests_urllib3.py")],
  },
  "httpx-tenacity": {
    // Debian's packages belong to Debian's Python.
    probe: ["/usr/bin/python3", "-c", "import httpx, tenacity"],
    command: ["/usr/bin/python3", join(folder, "httpx_tenacity.py")],
  },
  tenacity: {
    probe: ["/usr/bin/python3", "-c", "import tenacity"],
    command: ["/usr/bin/python3", join(folder, "tenacity_alone.py")],
  },
  "google-storage": { command: node("google-storage") },
  java: {
    probe: ["javac", "-d", scratch, join(folder, "Client.java")],
    command: ["java", "-cp", scratch, "Client"],
  },
  go: {
    probe: ["go", "build", "-o", join(scratch, "client"), join(folder, "client.go")],
    command: [join(scratch, "client")],
  },
  "go-retryablehttp": {
    // Debian: golang-github-hashicorp-go-retryablehttp-dev.
    env: { GO111MODULE: "off", GOPATH: "/usr/share/gocode" },
    probe: ["go", "build", "-o", join(scratch, "retryable"), join(folder, "retryable/main.go")],
    command: [join(scratch, "retryable")],
  },
};

function grade(command) {
  return new Promise((resolve) => {
    const args = [understudy, "client-test", "--json", "--", ...command];
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_error, stdout) => resolve(JSON.parse(stdout)));
  });
}

function isHere(probe, env = {}) {
  try {
    if (probe !== undefined)
      execFileSync(probe[0], probe.slice(1), { stdio: "ignore", env: { ...process.env, ...env } });
    return true;
  } catch {
    return false;
  }
}

const named = process.argv.slice(2);
let failed = 0;
for (const [name, { command, probe, env, warnings = [] }] of Object.entries(CLIENTS)) {
  if (named.length > 0 && !named.includes(name)) continue;
  if (!isHere(probe, env)) {
    console.log(`skip ${name}: ${probe.join(" ")} fails`);
    continue;
  }
  const report = await grade(command);
  const accused = report.checks.filter(({ id, outcome }) => outcome === "failed" && !warnings.includes(id));
  const isSound = report.verdict === "pass" && accused.length === 0;
  failed += isSound ? 0 : 1;
  const seen = `${report.summary.passed} passed, ${report.summary.not_observable} not observable`;
  console.log(`${isSound ? "ok  " : "FAIL"} ${name}: ${seen}, ${Math.round(report.duration_ms / 1000)} s`);
  for (const { id, why } of accused) console.log(`     ${id}: ${why}`);
}
rmSync(scratch, { recursive: true, force: true });
process.exitCode = failed === 0 ? 0 : 1;
