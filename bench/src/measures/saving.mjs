import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { control, openClient, runInParallel } from "../client.mjs";
import { loadOk } from "../load.mjs";
import { atMost, makeRow } from "../rows.mjs";
import { createScratchFolder } from "../scratch.mjs";
import { MB } from "../statistics.mjs";
import { asAda, asEve, LIMITS, startUnderstudy } from "../subjects/understudy.mjs";

export const about = "event-loop delay while 50,000 records are saved under load (--persist)";

const RECORDS = 50_000;
const SECONDS = 8;
const SAVED_WITHIN_MS = 3000;
// A record on disk takes more bytes than this in any format; fewer mean that it was not saved.
const MIN_BYTES_PER_RECORD = 20;

export async function measure({ log }) {
  const folder = createScratchFolder();
  const server = await startUnderstudy({ probe: true, args: ["--persist", folder] });
  const state = control(server);
  log("creating 50,000 records");
  await runInParallel(RECORDS, 32, (index) =>
    state.post("/sandboxes/default/state/departments?silent=true", {
      organization_id: "org_acme",
      name: `Bench ${index}`,
      parent_id: "dept_ops",
    }),
  );
  await sleep(SAVED_WITHIN_MS);
  log("serving and saving");
  await server.ask("startLoopDelay");
  const writes = keepWriting(server);
  await loadOk({ url: server.url, paths: [LIMITS], headers: asEve }, SECONDS);
  const written = await writes.end();
  const { p99, max } = await server.ask("loopDelay");
  checkSaved(folder);
  await Promise.all([state.close(), server.stop()]);
  return [
    makeRow({
      what: "event-loop delay p99 while saving 50,000",
      value: p99,
      unit: "ms",
      goal: atMost(50, "ms"),
    }),
    makeRow({ what: `longest delay of it, ${written} writes`, value: max, unit: "ms" }),
  ];
}

/** Makes ten changes a second, so that there is always something to save. */
function keepWriting(server) {
  const api = openClient(server.url, asAda);
  let running = true;
  let written = 0;
  const done = (async () => {
    for (; running; written++) {
      const parent = written % 2 === 0 ? "dept_ops" : "dept_platform";
      await api.post("/v1/organizations/org_acme/departments/dept_infra/reparent", { new_parent_id: parent });
      await sleep(100);
    }
  })();
  // `end()` reports the error; before, a failed write must not end the run.
  done.catch(() => {});
  return {
    async end() {
      running = false;
      await done;
      await api.close();
      return written;
    },
  };
}

/** Checks that the records were saved recently; otherwise the figure would be meaningless. */
function checkSaved(folder) {
  const files = readdirSync(folder, { recursive: true })
    .map((name) => statSync(join(folder, name)))
    .filter((file) => file.isFile());
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes < RECORDS * MIN_BYTES_PER_RECORD)
    throw new Error(`only ${(bytes / MB).toFixed(1)} MB were saved`);
  const newest = Math.max(...files.map(({ mtimeMs }) => mtimeMs));
  if (Date.now() - newest > SAVED_WITHIN_MS) throw new Error("the last save is too long ago");
}
