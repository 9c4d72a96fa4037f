// Lists the tests that may notice a change in a folder.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The folders of a folder's tests, in addition to the folder itself. */
const TESTS = {
  "src/engine/pipeline": [
    "test/api",
    "test/hardening",
    "test/faults",
    "test/control/explain.test.ts",
    "test/control/sandboxes.test.ts",
    "test/history/history.test.ts",
  ],
  "src/engine/state": [
    "src/engine/sandbox",
    "src/engine/fixtures",
    "test/history",
    "test/control/state.test.ts",
  ],
  "src/engine/sandbox": ["test/control", "test/history"],
  "src/engine/faults": ["test/faults", "test/control/explain.test.ts", "test/history"],
  "src/engine/webhooks": [
    "test/webhooks",
    "test/faults/delivery-faults.test.ts",
    "test/control/failed-saves.test.ts",
  ],
  "src/control": [
    "test/control",
    "test/history",
    "test/contract/control-run.test.ts",
    "test/contract/generated.test.ts",
  ],
  "src/persistence": [
    "test/control/durable-saves.test.ts",
    "test/control/persistence.test.ts",
    "test/control/saves.test.ts",
    "test/control/shared-secrets.test.ts",
    "test/control/snapshots.test.ts",
    "test/control/failed-saves.test.ts",
    "test/api/upload-recovery.test.ts",
    "test/fleet/fleet.test.ts",
    "test/history/saved-history.test.ts",
  ],
  "src/engine/resources": [
    "test/api",
    "src/engine/fixtures",
    "test/control/state.test.ts",
    "test/webhooks/event-data.test.ts",
  ],
};

/** Slower test files run only if `--tests` names them. */
const MAX_SECONDS = 15;
const SECONDS_BY_FILE = JSON.parse(readFileSync("test/support/durations.json", "utf8"));

export function listSources(place) {
  return listFiles(place).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
}

/** The folders and files of a folder's tests. */
export function findTests(place) {
  const area = Object.keys(TESTS).find((one) => place === one || place.startsWith(`${one}/`));
  const own = area ?? (place.endsWith(".ts") ? place.slice(0, place.lastIndexOf("/")) : place);
  return [own, ...(TESTS[area] ?? [])];
}

/** The test files in folders, and named ones, however slow. */
export function listTestFiles(places) {
  const found = places.flatMap((place) =>
    listFiles(place).filter((file) => file === place || (SECONDS_BY_FILE[file] ?? 0) < MAX_SECONDS),
  );
  return [...new Set(found)].filter((file) => file.endsWith(".test.ts"));
}

function listFiles(place) {
  const stat = statSync(place, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat === undefined ? [] : [place];
  return readdirSync(place, { recursive: true }).map((name) => join(place, name));
}
