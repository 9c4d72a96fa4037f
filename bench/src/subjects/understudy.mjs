import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createScratchFolder, writeScratchFile } from "../scratch.mjs";
import { freePort, startNode, waitForFirstOk } from "../server-process.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** UNDERSTUDY_BIN measures another build. */
const BIN = process.env.UNDERSTUDY_BIN ?? join(ROOT, "bin/understudy.js");
export const BENCH_FIXTURE = fileURLToPath(new URL("../../fixtures/bench.yaml", import.meta.url));

const KEYS = {
  ada: "ak_adaOwnerAcme000000000000000000000000000",
  dan: "ak_danMemberAcme00000000000000000000000000",
  eve: "ak_eveOwnerGlobex0000000000000000000000000",
};
export const asAda = { "api-key": KEYS.ada };
export const asDan = { "api-key": KEYS.dan };
export const asEve = { "api-key": KEYS.eve };
export const asAdaJson = { ...asAda, "content-type": "application/json" };
export const LIMITS = "/v1/analytics/usage/limits/org_globex";
export const FILE_STATUS = "/v1/organizations/org_acme/stores/vs_handbook/files/file_handbook/status";
export const REPARENT = "/v1/organizations/org_acme/departments/dept_infra/reparent";

// Spaces extend the body to 200 bytes, which the baselines parse. An unknown field would add a warning to the
// journal.
const makeBodyOf200Bytes = (parent) => `{"new_parent_id": "${parent}"`.padEnd(199) + "}";
export const reparentBodies = [makeBodyOf200Bytes("dept_ops"), makeBodyOf200Bytes("dept_platform")];

/** Writes a fixture file: the reference world with very high rate limits, and the measure's additions. */
export function writeFixtureFile(additions = {}) {
  const organizations = ["org_acme", "org_globex", "org_initech", "org_hooli"].map((id) => ({
    id,
    plan: "enterprise",
    rate_limit: 1_000_000_000,
  }));
  return writeScratchFile("fixture.json", { extends: "reference", organizations, ...additions });
}

/**
 * Starts a server as a user would (with journal and file watching) and waits until it responds. Options: fixture
 * (name or path), args (more options of `start`), nodeArgs, probe, timeoutMs.
 */
export async function startUnderstudy({ fixture = BENCH_FIXTURE, args = [], timeoutMs, ...options } = {}) {
  if (!existsSync(BIN)) throw new Error(`there is no ${BIN}`);
  const port = await freePort();
  const ready = join(createScratchFolder(), "ready.json");
  const server = startNode({
    args: [
      ...[BIN, "start", "--port", String(port), "--ready-file", ready, "--quiet", "--clock", "real"],
      ...["--fixture", fixture, ...args],
    ],
    cwd: createScratchFolder(),
    ...options,
  });
  const url = `http://127.0.0.1:${port}`;
  const firstAnswerMs = await waitForFirstOk(server, { url: url + LIMITS, headers: asEve, timeoutMs });
  return { ...server, url, firstAnswerMs, ready: await waitForFile(ready) };
}

/** The headers with which the load generator calls the control API. */
export function controlHeaders({ ready }) {
  const token = ready.token ? { authorization: `Bearer ${ready.token}` } : {};
  return { ...token, "content-type": "application/json" };
}

async function waitForFile(path) {
  for (let waited = 0; waited < 5000; waited += 10) {
    if (existsSync(path)) {
      const text = readFileSync(path, "utf8");
      if (text.trim().endsWith("}")) return JSON.parse(text);
    }
    await sleep(10);
  }
  throw new Error("the ready file did not appear within 5 s of the first answer");
}

export const understudy = {
  name: "Understudy",
  kind: "understudy",
  start: startUnderstudy,
  get: { path: LIMITS, headers: asEve },
  post: { path: REPARENT, bodies: reparentBodies, headers: asAdaJson },
};
