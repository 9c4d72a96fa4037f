import { invalidInput } from "../../contract/errors.ts";
import { referred } from "../../contract/references.ts";
import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { connections } from "../connections/schema.ts";
import {
  type Course,
  currentJob,
  emitOutcome,
  endJob,
  failsAfter,
  jobLength,
  runningJob,
  type Synced,
  startJob,
} from "./rules.ts";
import { type ConnectorJob, connectorJobs } from "./schema.ts";

export const connectorJobRules: StateRules<ConnectorJob> = {
  toPublic: (job, world) => currentJob(job, world.now),
  insert(tx, record, { settings }) {
    requireSound(tx, record);
    if (record.status !== "running") return tx.insert(connectorJobs, record);
    requireFree(tx, record);
    const course = toCourse(record);
    return startJob(tx, record, { ...course, fails_after: failsAfter(tx, record, { ...course, settings }) });
  },
  update(tx, before, given, actor) {
    requireSound(tx, { ...given, duration: durationAsked(before, given) });
    if (given.status === "running")
      return before.status === "running" ? moved(tx, before, given) : restarted(tx, before, { given, actor });
    return before.status === "running"
      ? ended(tx, before, { given, actor })
      : rewritten(tx, before, { given, actor });
  },
};

/** A change of status brings its own duration; one that the call gives is judged as it is. */
function durationAsked(before: ConnectorJob, given: ConnectorJob): number | null {
  if ((before.status === "running") === (given.status === "running")) return given.duration;
  if (given.duration !== before.duration) return given.duration;
  return given.status === "running" ? null : 0;
}

function requireSound(tx: Transaction, job: ConnectorJob): void {
  const connection = referred(tx, connections, { field: "connection_id", id: job.connection_id });
  if (connection.organization_id !== job.organization_id)
    throw invalidInput(
      "organization_id",
      job.organization_id,
      "the connection belongs to another organization",
    );
  if (job.status === "running" && job.duration !== null)
    throw invalidInput("duration", job.duration, "a running job has no duration yet");
  if (job.status !== "running" && job.duration === null)
    throw invalidInput("duration", null, "a job that has ended has a duration");
}

/** G14: one running job per connection and type. */
function requireFree(tx: Transaction, job: ConnectorJob): void {
  const other = runningJob(tx, job);
  if (other && other.job_id !== job.job_id)
    throw invalidInput("connection_id", job.connection_id, `${other.job_id} is running already`);
}

/** Still running, perhaps since another instant: it ends as much later. Its figures are the clock's. */
function moved(tx: Transaction, before: ConnectorJob, given: ConnectorJob): ConnectorJob {
  requireFree(tx, given);
  return startJob(tx, given, toCourse(before));
}

function restarted(tx: Transaction, before: ConnectorJob, { given, actor }: Change): ConnectorJob {
  requireFree(tx, given);
  const start_time = given.start_time === before.start_time ? tx.now : given.start_time;
  const { settings } = actor;
  const length = jobLength(settings);
  const fails_after = failsAfter(tx, given, { length, settings });
  return startJob(tx, { ...given, start_time }, { ...toCourse(before), length, fails_after });
}

function toCourse({ due, fails_at, start_time, bytes_total, rows_total }: ConnectorJob): Course {
  return {
    length: (due ?? start_time) - start_time,
    totals: { bytes_total, rows_total },
    fails_after: fails_at === null ? null : fails_at - start_time,
  };
}

interface Change {
  given: ConnectorJob;
  actor: StateActor;
}

function ended(tx: Transaction, before: ConnectorJob, { given, actor }: Change): ConnectorJob {
  const own: Partial<Synced & { duration: number }> = {};
  if (given.bytes_synced !== before.bytes_synced) own.bytes_synced = given.bytes_synced;
  if (given.rows_synced !== before.rows_synced) own.rows_synced = given.rows_synced;
  if (given.duration !== null) own.duration = given.duration;
  const running: ConnectorJob = { ...given, status: "running" };
  const status = given.status as Exclude<ConnectorJob["status"], "running">;
  const job = endJob(tx, running, { status, at: tx.now, given: own });
  if (!actor.silent) emitOutcome(tx, job);
  return job;
}

function rewritten(tx: Transaction, before: ConnectorJob, { given, actor }: Change): ConnectorJob {
  tx.put(connectorJobs, given);
  if (!actor.silent && given.status !== before.status) emitOutcome(tx, given);
  return given;
}
