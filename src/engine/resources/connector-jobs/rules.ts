import { toMilliseconds } from "../../contract/duration.ts";
import { invalidInput } from "../../contract/errors.ts";
import { aboutRecords, emit, event } from "../../contract/event.ts";
import type { RecordLookup } from "../../contract/factory.ts";
import { requireReferencedRecord } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Settings } from "../../contract/settings.ts";
import { Random } from "../../state/random.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { connections } from "../connections.ts";
import { type ConnectorJob, connectorJobs, renderStoredJob, toJobGroup } from "./schema.ts";

/** Notification rules can name these events (assumption G15); webhooks cannot (reference 6.1). */
const JOB_EVENT = {
  section: "4.14",
  assumptions: ["G15"],
  about: aboutRecords(connectorJobs, {}),
} as const;

const jobSucceeded = event({
  ...JOB_EVENT,
  name: "connector.job.succeeded",
  summary: "A connector job succeeded",
  fixedData: { status: "succeeded" },
});

const jobFailed = event({
  ...JOB_EVENT,
  name: "connector.job.failed",
  summary: "A connector job failed",
  fixedData: { status: "failed" },
});

export const JOB_EVENTS = [jobSucceeded, jobFailed] as const;

type Totals = Pick<ConnectorJob, "bytes_total" | "rows_total">;

export function drawTotals(random: Random): Totals {
  const rows_total = random.int(200, 4000);
  return { rows_total, bytes_total: rows_total * random.int(512, 4096) };
}

/** Limits the work of a reset; jobs before these are not counted. */
const MAX_EARLIER_JOBS = 1000;

/**
 * A sync transfers only new data. A reset also transfers again all that the last successful reset and later jobs transferred
 * (assumption G34).
 */
export function planTotals(
  world: RecordLookup,
  job: Pick<ConnectorJob, "organization_id" | "connection_id" | "job_type">,
  { now, newTotals }: { now: number; newTotals: Totals },
): Totals {
  if (job.job_type === "sync") return newTotals;
  let { bytes_total, rows_total } = newTotals;
  const group = toJobGroup(job.organization_id, { connection_id: job.connection_id });
  for (const earlier of world.index(connectorJobs, "-start_time", group).page(0, MAX_EARLIER_JOBS)) {
    const { bytes_synced, rows_synced } = calculateSynced(earlier, now);
    bytes_total += bytes_synced;
    rows_total += rows_synced;
    if (earlier.job_type === "reset" && earlier.status === "succeeded") break;
  }
  return { bytes_total, rows_total };
}

/**
 * `due`: when the job ends if it succeeds. `fails_at`: when it fails instead, after 10 to 90 percent of its duration; null if it
 * does not fail.
 */
export function planEnd(
  world: RecordLookup,
  { connection_id, start_time }: Pick<ConnectorJob, "connection_id" | "start_time">,
  { random, settings }: { random: Random; settings: Settings },
): { due: number; fails_at: number | null } {
  const duration_ms = toMilliseconds(settings.connector_job_seconds);
  const rate = world.get(connections, connection_id)?.failure_rate ?? settings.connector_failure_rate;
  const share = random.int(10, 90) / 100;
  const fails_at = random.chance(rate) ? start_time + Math.round(duration_ms * share) : null;
  return { due: start_time + duration_ms, fails_at };
}

type SyncedFigures = Pick<ConnectorJob, "bytes_synced" | "rows_synced">;

/** The bytes and rows synced at an instant. Those of a running job are calculated from the clock; none are stored (assumption G14). */
function calculateSynced(job: ConnectorJob, now: number): SyncedFigures {
  const { status, due, start_time, bytes_total, rows_total, bytes_synced, rows_synced } = job;
  if (status !== "running" || due === null) return { bytes_synced, rows_synced };
  const length = due - start_time;
  const share = length <= 0 ? 1 : Math.min(1, Math.max(0, (now - start_time) / length));
  return { bytes_synced: Math.floor(bytes_total * share), rows_synced: Math.floor(rows_total * share) };
}

function withCurrentFigures(job: ConnectorJob, now: number): ConnectorJob {
  return { ...job, ...calculateSynced(job, now) };
}

export function renderJob(job: ConnectorJob, world: WorldReader) {
  return renderStoredJob(withCurrentFigures(job, world.now), world);
}

/** The job of this connection and type that runs now; there is at most one. */
export function findRunningJob(
  world: RecordLookup,
  { connection_id, job_type }: Pick<ConnectorJob, "connection_id" | "job_type">,
): ConnectorJob | undefined {
  return world.index(connectorJobs, "running", `${connection_id}|${job_type}`).first();
}

type RunningJob = Omit<ConnectorJob, "status" | "bytes_synced" | "rows_synced" | "duration">;

/**
 * Starts a job; a setting that changes later does not move its end. With the same settings, whether and when it
 * fails depends only on the sandbox's seed, the connection, and the connection's number of jobs (G34).
 */
export function startJob(
  tx: Transaction,
  job: Omit<RunningJob, "due" | "fails_at">,
  settings: Settings,
): ConnectorJob {
  const { organization_id, connection_id } = job;
  const jobs = tx.index(connectorJobs, "start_time", toJobGroup(organization_id, { connection_id }));
  const random = new Random(tx.seed, `connector_failure/${connection_id}`, jobs.size);
  return putRunningJob(tx, { ...job, ...planEnd(tx, job, { random, settings }) });
}

function putRunningJob(tx: Transaction, job: RunningJob): ConnectorJob {
  const due = tx.limitToClock(job.due!);
  const fails_at = job.fails_at && tx.limitToClock(job.fails_at);
  tx.schedule({ kind: "connector.job", subject: job.job_id, due: fails_at ?? due });
  return tx.put(connectorJobs, {
    job_id: job.job_id,
    status: "running",
    job_type: job.job_type,
    start_time: job.start_time,
    connection_id: job.connection_id,
    bytes_synced: 0,
    rows_synced: 0,
    duration: null,
    organization_id: job.organization_id,
    due,
    fails_at,
    bytes_total: job.bytes_total,
    rows_total: job.rows_total,
  });
}

type JobOutcome = Exclude<ConnectorJob["status"], "running">;

/** Ends a running job. A job that succeeded gets its totals as figures; any other keeps what it has synced by `at`. */
export function endJob(
  tx: Transaction,
  job: ConnectorJob,
  { status, at }: { status: JobOutcome; at: number },
): ConnectorJob {
  tx.unschedule("connector.job", job.job_id);
  const totals = { bytes_synced: job.bytes_total, rows_synced: job.rows_total };
  return tx.put(connectorJobs, {
    ...job,
    status,
    due: null,
    fails_at: null,
    duration: Math.max(0, Math.floor((at - job.start_time) / 1000)),
    ...(status === "succeeded" ? totals : calculateSynced(job, at)),
  });
}

/** Emits the event of a job that has ended; a cancelled job emits none. */
function emitOutcome(tx: Transaction, job: ConnectorJob): void {
  if (job.status === "succeeded") emit(tx, jobSucceeded, job);
  else if (job.status === "failed") emit(tx, jobFailed, job);
}

/** Handles `connector.job` timers: a running job succeeds at its planned end, or fails before it. */
export function endDueJob(tx: Transaction, { subject, due }: { subject: string; due: number }): void {
  const job = tx.get(connectorJobs, subject);
  if (job?.status !== "running") return;
  const status = job.fails_at === null ? "succeeded" : "failed";
  emitOutcome(tx, endJob(tx, job, { status, at: due }));
}

export const connectorJobStateRules: StateRules<ConnectorJob> = {
  toPublic: (job, world) => withCurrentFigures(job, world.now),
  insert(tx, record, { settings, silent }) {
    requireConnection(tx, record);
    requireDurationToFitStatus(record);
    if (record.status === "running") {
      requireNoRunningJob(tx, record);
      return startJob(tx, record, settings);
    }
    if (!silent) emitOutcome(tx, record);
    return tx.insert(connectorJobs, record);
  },
  update(tx, before, after, { settings, silent }, given) {
    requireConnection(tx, after, before);
    const startsOrEnds = (before.status === "running") !== (after.status === "running");
    // A job that starts or ends gets its duration below, unless the call gives one.
    if (!startsOrEnds || after.duration !== before.duration) requireDurationToFitStatus(after);
    if (after.status === "running") {
      requireNoRunningJob(tx, after);
      // Still running, perhaps with another start: its end moves by as much. Its figures are calculated from the clock.
      if (before.status === "running") return moveStart(tx, before, after);
      const start_time = after.start_time === before.start_time ? tx.now : after.start_time;
      return startJob(tx, { ...after, start_time }, settings);
    }
    const job =
      before.status === "running" ? endJobByCall(tx, before, { after, given }) : tx.put(connectorJobs, after);
    if (!silent && job.status !== before.status) emitOutcome(tx, job);
    return job;
  },
};

function requireConnection(tx: Transaction, job: ConnectorJob, before = job): void {
  const id = job.connection_id;
  const { organization_id } = requireReferencedRecord(tx, connections, { field: "connection_id", id });
  const wrongField = id === before.connection_id ? "organization_id" : "connection_id";
  if (organization_id !== job.organization_id)
    throw invalidInput(wrongField, job[wrongField], "the connection belongs to another organization");
}

function requireDurationToFitStatus({ status, duration }: ConnectorJob): void {
  if (status === "running" && duration !== null)
    throw invalidInput("duration", duration, "a running job has no duration yet");
  if (status !== "running" && duration === null)
    throw invalidInput("duration", null, "a job that has ended has a duration");
}

/** One job of a type runs per connection at a time (G14). */
function requireNoRunningJob(tx: Transaction, job: ConnectorJob): void {
  const other = findRunningJob(tx, job);
  if (other && other.job_id !== job.job_id)
    throw invalidInput("connection_id", job.connection_id, `${other.job_id} is running already`);
}

function moveStart(tx: Transaction, before: ConnectorJob, after: ConnectorJob): ConnectorJob {
  const shift = after.start_time - before.start_time;
  const fails_at = before.fails_at === null ? null : before.fails_at + shift;
  return putRunningJob(tx, { ...after, due: before.due! + shift, fails_at });
}

/** Ends a running job now. Figures that the call changed replace the calculated ones; those it only sent back do not. */
function endJobByCall(
  tx: Transaction,
  before: ConnectorJob,
  { after, given }: { after: ConnectorJob; given: Partial<ConnectorJob> },
): ConnectorJob {
  const { status, duration } = after as ConnectorJob & { status: JobOutcome };
  const current = calculateSynced(before, tx.now);
  const { bytes_synced = current.bytes_synced, rows_synced = current.rows_synced } = given;
  // `endJob` calculates the figures of a job that still runs.
  const job = endJob(tx, { ...after, status: "running" }, { status, at: tx.now });
  return tx.put(connectorJobs, {
    ...job,
    ...(bytes_synced !== current.bytes_synced && { bytes_synced }),
    ...(rows_synced !== current.rows_synced && { rows_synced }),
    duration: duration ?? job.duration,
  });
}
