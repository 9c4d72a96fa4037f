import { invalidInput } from "../../contract/errors.ts";
import { aboutRecords, emit, event } from "../../contract/event.ts";
import type { RecordLookup } from "../../contract/factory.ts";
import { requireReferencedRecord } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Settings } from "../../contract/settings.ts";
import { Random } from "../../state/random.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { connections } from "../connections.ts";
import { type ConnectorJob, connectorJobs, renderFigures, toJobGroup } from "./schema.ts";

/** Notification rules can name these events (G15), webhooks cannot (6.1). */
const JOB_EVENT = {
  section: "4.14",
  assumptions: ["G15"],
  about: aboutRecords(connectorJobs, {}),
  data: [
    "job_id",
    "status",
    "job_type",
    "start_time",
    "connection_id",
    "bytes_synced",
    "rows_synced",
    "duration",
    "organization_id",
  ],
} as const;

const jobSucceeded = event({
  ...JOB_EVENT,
  name: "connector.job.succeeded",
  summary: "A connector job has run its time",
  implies: { status: "succeeded" },
});

const jobFailed = event({
  ...JOB_EVENT,
  name: "connector.job.failed",
  summary: "A connector job failed",
  implies: { status: "failed" },
});

export const JOB_EVENTS = [jobSucceeded, jobFailed] as const;

/** The duration of a job that begins now, in whole milliseconds (G14). */
export function getJobDuration({ connector_job_seconds }: Pick<Settings, "connector_job_seconds">): number {
  return Math.round(connector_job_seconds * 1000);
}

type Totals = Pick<ConnectorJob, "bytes_total" | "rows_total">;

/** The total bytes and rows of a sync. */
export function drawTotals(random: Random): Totals {
  const rows_total = random.int(200, 4000);
  return { rows_total, bytes_total: rows_total * random.int(512, 4096) };
}

const MAX_JOBS_OF_A_RESET = 1000;

/** The totals of a job. A reset syncs everything since the last reset again, and the new data (G34). */
export function planTotals(
  world: RecordLookup,
  job: Pick<ConnectorJob, "organization_id" | "connection_id" | "job_type">,
  { now, totals }: { now: number; totals: Totals },
): Totals {
  let { bytes_total, rows_total } = totals;
  if (job.job_type === "sync") return totals;
  const group = toJobGroup(job.organization_id, { connection_id: job.connection_id });
  for (const earlier of world.index(connectorJobs, "-start_time", group).page(0, MAX_JOBS_OF_A_RESET)) {
    const { bytes_synced, rows_synced } = calculateSynced(earlier, now);
    bytes_total += bytes_synced;
    rows_total += rows_synced;
    if (earlier.job_type === "reset" && earlier.status === "succeeded") break;
  }
  return { bytes_total, rows_total };
}

/**
 * The milliseconds until the connection's next job fails; null if it succeeds. They depend only on the sandbox's seed, the
 * connection, and its number of jobs (G34).
 */
export function drawFailureTime(
  tx: Transaction,
  { organization_id, connection_id }: Pick<ConnectorJob, "organization_id" | "connection_id">,
  { duration_ms, settings }: { duration_ms: number; settings: Settings },
): number | null {
  const rate = tx.get(connections, connection_id)?.failure_rate ?? settings.connector_failure_rate;
  const { size } = tx.index(connectorJobs, "start_time", toJobGroup(organization_id, { connection_id }));
  return drawFailure(new Random(tx.seed, `connector_failure/${connection_id}`, size), { duration_ms, rate });
}

/** Draws the milliseconds until a job fails, 10 to 90 percent of its duration; null if it succeeds. */
export function drawFailure(
  random: Random,
  { duration_ms, rate }: { duration_ms: number; rate: number },
): number | null {
  const share = random.int(10, 90) / 100;
  return random.chance(rate) ? Math.round(duration_ms * share) : null;
}

type SyncedFigures = Pick<ConnectorJob, "bytes_synced" | "rows_synced">;

/** The figures at an instant; while the job runs, they depend on that instant alone (G14). */
function calculateSynced(job: ConnectorJob, now: number): SyncedFigures {
  const { status, due, start_time, bytes_total, rows_total, bytes_synced, rows_synced } = job;
  if (status !== "running" || due === null) return { bytes_synced, rows_synced };
  const length = due - start_time;
  const share = length <= 0 ? 1 : Math.min(1, Math.max(0, (now - start_time) / length));
  return { bytes_synced: Math.floor(bytes_total * share), rows_synced: Math.floor(rows_total * share) };
}

/** Adds the figures of this instant to a job. */
function addCurrentFigures(job: ConnectorJob, now: number): ConnectorJob {
  return { ...job, ...calculateSynced(job, now) };
}

export function renderJob(job: ConnectorJob, world: WorldReader) {
  return renderFigures(addCurrentFigures(job, world.now), world);
}

/** The job of this connection and type that runs now; there is at most one. */
export function findRunningJob(
  world: RecordLookup,
  { connection_id, job_type }: Pick<ConnectorJob, "connection_id" | "job_type">,
): ConnectorJob | undefined {
  return world.index(connectorJobs, "running", `${connection_id}|${job_type}`).first();
}

type StartedJob = Pick<
  ConnectorJob,
  "job_id" | "organization_id" | "connection_id" | "job_type" | "start_time"
>;

/** The plan of a job: its duration, its totals, and the milliseconds until it fails; null if it succeeds. */
interface JobPlan {
  duration_ms: number;
  totals: Totals;
  fails_after: number | null;
}

/** Starts a job; a setting that changes later does not move its end. */
export function startJob(
  tx: Transaction,
  { job_id, organization_id, connection_id, job_type, start_time }: StartedJob,
  { duration_ms, totals, fails_after }: JobPlan,
): ConnectorJob {
  const due = start_time + duration_ms;
  const fails_at = fails_after === null ? null : start_time + fails_after;
  tx.schedule({ kind: "connector.job", subject: job_id, due: fails_at ?? due });
  return tx.put(connectorJobs, {
    job_id,
    status: "running",
    job_type,
    start_time,
    connection_id,
    bytes_synced: 0,
    rows_synced: 0,
    duration: null,
    organization_id,
    due,
    fails_at,
    ...totals,
  });
}

type JobOutcome = Exclude<ConnectorJob["status"], "running">;

/** Ends a running job at an instant, with its figures of that instant; `figures` overrides them. */
export function endJob(
  tx: Transaction,
  job: ConnectorJob,
  {
    status,
    at,
    figures = {},
  }: { status: JobOutcome; at: number; figures?: Partial<SyncedFigures & { duration: number }> },
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
    ...figures,
  });
}

/** Emits the event of a job that has ended; a cancelled job emits none. */
function emitOutcome(tx: Transaction, job: ConnectorJob): void {
  if (job.status === "succeeded") emit(tx, jobSucceeded, job);
  else if (job.status === "failed") emit(tx, jobFailed, job);
}

/** The timer of a running job: it has run its time and succeeds, or fails before. */
export function completeJob(tx: Transaction, { subject, due }: { subject: string; due: number }): void {
  const job = tx.get(connectorJobs, subject);
  if (job?.status !== "running") return;
  const status = job.fails_at === null ? "succeeded" : "failed";
  emitOutcome(tx, endJob(tx, job, { status, at: due }));
}

export const connectorJobStateRules: StateRules<ConnectorJob> = {
  toPublic: (job, world) => addCurrentFigures(job, world.now),
  insert(tx, record, { settings }) {
    requireConsistent(tx, record);
    if (record.status !== "running") return tx.insert(connectorJobs, record);
    requireNoRunningJob(tx, record);
    const plan = toPlan(record);
    return startJob(tx, record, {
      ...plan,
      fails_after: drawFailureTime(tx, record, { ...plan, settings }),
    });
  },
  update(tx, before, after, { settings, silent }) {
    requireConsistent(tx, { ...after, duration: findRequestedDuration(before, after) });
    if (after.status === "running") {
      requireNoRunningJob(tx, after);
      // Still running, perhaps with another start: its end moves by the same time. Its figures follow from the clock.
      if (before.status === "running") return startJob(tx, after, toPlan(before));
      const start_time = after.start_time === before.start_time ? tx.now : after.start_time;
      const duration_ms = getJobDuration(settings);
      const fails_after = drawFailureTime(tx, after, { duration_ms, settings });
      return startJob(tx, { ...after, start_time }, { ...toPlan(before), duration_ms, fails_after });
    }
    const job = before.status === "running" ? endJobByCall(tx, before, after) : tx.put(connectorJobs, after);
    if (!silent && job.status !== before.status) emitOutcome(tx, job);
    return job;
  },
};

/** A change of status sets the duration, unless the call gives one. */
function findRequestedDuration(before: ConnectorJob, after: ConnectorJob): number | null {
  if ((before.status === "running") === (after.status === "running")) return after.duration;
  if (after.duration !== before.duration) return after.duration;
  return after.status === "running" ? null : 0;
}

function requireConsistent(
  tx: Transaction,
  { connection_id, organization_id, status, duration }: ConnectorJob,
): void {
  const connection = requireReferencedRecord(tx, connections, { field: "connection_id", id: connection_id });
  if (connection.organization_id !== organization_id)
    throw invalidInput("organization_id", organization_id, "the connection belongs to another organization");
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

function toPlan({ due, fails_at, start_time, bytes_total, rows_total }: ConnectorJob): JobPlan {
  return {
    duration_ms: (due ?? start_time) - start_time,
    totals: { bytes_total, rows_total },
    fails_after: fails_at === null ? null : fails_at - start_time,
  };
}

/** Ends a running job now, with the figures that the call changes. */
function endJobByCall(tx: Transaction, before: ConnectorJob, after: ConnectorJob): ConnectorJob {
  const { status, bytes_synced, rows_synced, duration } = after as ConnectorJob & { status: JobOutcome };
  const changedFigures = {
    ...(bytes_synced !== before.bytes_synced && { bytes_synced }),
    ...(rows_synced !== before.rows_synced && { rows_synced }),
    ...(duration !== null && { duration }),
  };
  return endJob(tx, { ...after, status: "running" }, { status, at: tx.now, figures: changedFigures });
}
