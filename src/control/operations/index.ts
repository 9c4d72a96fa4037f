import type { AnyControlOperation } from "../operation.ts";
import { advanceClock, pendingTimers, setClock, showClock } from "./clock.ts";
import {
  archiveJournal,
  checkJournal,
  clearJournal,
  followJournal,
  listJournal,
  retrieveEntry,
} from "./journal.ts";
import { showFidelity, showMetrics, showOpenApi } from "./reports.ts";
import {
  createSandbox,
  deleteSandbox,
  forkSandbox,
  health,
  listSandboxes,
  resetSandbox,
  retrieveSandbox,
  updateSandbox,
} from "./sandboxes.ts";
import {
  deleteSnapshot,
  diffSnapshots,
  downloadSnapshot,
  listSnapshots,
  restoreSnapshot,
  saveSnapshot,
  uploadSnapshot,
} from "./snapshots.ts";
import {
  createRecord,
  deleteRecord,
  listCollections,
  listRecords,
  retrieveRecord,
  updateRecord,
} from "./state.ts";

/** The whole control API (interfaces 4), one file per area; order is that of the documentation. */
export const CONTROL_OPERATIONS: readonly AnyControlOperation[] = [
  health,
  listSandboxes,
  createSandbox,
  retrieveSandbox,
  updateSandbox,
  deleteSandbox,
  resetSandbox,
  listSnapshots,
  saveSnapshot,
  restoreSnapshot,
  downloadSnapshot,
  uploadSnapshot,
  deleteSnapshot,
  diffSnapshots,
  forkSandbox,
  showClock,
  setClock,
  advanceClock,
  pendingTimers,
  listCollections,
  listRecords,
  createRecord,
  retrieveRecord,
  updateRecord,
  deleteRecord,
  listJournal,
  clearJournal,
  followJournal,
  archiveJournal,
  checkJournal,
  retrieveEntry,
  showOpenApi,
  showFidelity,
  showMetrics,
];
