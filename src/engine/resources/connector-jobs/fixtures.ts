import { Type } from "typebox";
import { toMilliseconds } from "../../contract/duration.ts";
import type { Factory, FactoryContext } from "../../contract/factory.ts";
import {
  createEntryFormat,
  type FixtureEntry,
  readEntries,
  readOrganizations,
  reportContradictions,
} from "../../contract/fixture-entry.ts";
import {
  listDefaultRecords,
  requireFirstRecord,
  requireReferencedRecord,
} from "../../contract/references.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { HOUR_MS } from "../../state/clock.ts";
import { type Connection, connections } from "../connections.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { drawTotals, findRunningJob, planEnd, planTotals } from "./rules.ts";
import { ConnectorJob, connectorJobs, JOB_TYPES } from "./schema.ts";

const MAX_SCANNED = 1000;

export const makeConnectorJob: Factory<ConnectorJob> = (fields, context) => {
  const { random, world, isFixture, now } = context;
  const slot = isFixture ? readSlot(fields, context) : findSlot(fields, context);
  const newTotals = drawTotals(random);
  const status = fields.status ?? (slot.isFree && !hasEnded(fields) ? "running" : "succeeded");
  const isRunning = status === "running";
  const { organization_id, connection_id, job_type } = slot;
  // A job begins after its connection was created. One that has ended ended by now.
  const oldestStart = world.get(connections, connection_id)?.created_at ?? Number.NEGATIVE_INFINITY;
  const maxDuration = Math.max(0, Math.floor((now - (fields.start_time ?? oldestStart)) / 1000));
  const durationOnceEnded = fields.duration ?? Math.min(random.int(5, 120), maxDuration);
  const { duration = isRunning ? null : durationOnceEnded } = fields;
  const latestStart = isRunning ? now : now - durationOnceEnded * 1000;
  const start_time =
    fields.start_time ??
    Math.max(drawStart(isRunning, durationOnceEnded, context), Math.min(oldestStart, latestStart));
  const totals = isFixture ? newTotals : planTotals(world, slot, { now, newTotals });
  const isPlanned = isFixture && isRunning;
  const syncedTotals = status === "succeeded" ? totals : { bytes_total: 0, rows_total: 0 };
  return {
    job_id: fields.job_id ?? context.createId("job_"),
    status,
    job_type,
    start_time,
    connection_id,
    bytes_synced: isRunning ? 0 : (fields.bytes_synced ?? syncedTotals.bytes_total),
    rows_synced: isRunning ? 0 : (fields.rows_synced ?? syncedTotals.rows_total),
    duration,
    organization_id: fields.organization_id ?? organization_id,
    // The end of a state call's job is planned when it starts.
    ...(isPlanned ? planEnd(world, { connection_id, start_time }, context) : { due: null, fails_at: null }),
    ...totals,
  };
};

/** Whether the job has figures that only a job has that ended. */
function hasEnded({ duration, bytes_synced, rows_synced }: Partial<ConnectorJob>): boolean {
  return duration != null || bytes_synced !== undefined || rows_synced !== undefined;
}

/**
 * Draws the start of a job, in milliseconds since the sandbox's origin: negative in a fixture, whose running jobs have
 * run for one to twenty thirtieths of their duration (1 to 20 seconds by default).
 */
function drawStart(
  isRunning: boolean,
  seconds: number,
  { random, isFixture, now, settings }: FactoryContext,
): number {
  if (!isFixture) return isRunning ? now : now - seconds * 1000;
  return isRunning
    ? -Math.round((random.int(1, 20) * toMilliseconds(settings.connector_job_seconds)) / 30)
    : -random.int(2, 400) * HOUR_MS;
}

/** A connection and a type of job: at most one job runs in each. */
interface Slot {
  connection_id: string;
  organization_id: string;
  job_type: ConnectorJob["job_type"];
  /** Whether a new job may run in it. */
  isFree: boolean;
}

/** The slot of a fixture's job. It is not free: a fixture's job runs only if its `status` says so. */
function readSlot(fields: Partial<ConnectorJob>, context: FactoryContext): Slot {
  const { world } = context;
  const connection_id = fields.connection_id ?? requireFirstRecord(context, connections, "connection_id").id;
  const { organization_id } = world.get(connections, connection_id) ?? {
    organization_id: chooseOrganization({ world }),
  };
  return { connection_id, organization_id, job_type: fields.job_type ?? "sync", isFree: false };
}

/** The first free slot among those that the fields allow; if none is free, the first of them. */
function findSlot(fields: Partial<ConnectorJob>, context: FactoryContext): Slot {
  const { job_type } = fields;
  const slots = chooseConnections(fields, context).flatMap(({ id, organization_id }) =>
    (job_type ? [job_type] : JOB_TYPES).map((type) => ({
      connection_id: id,
      organization_id,
      job_type: type,
    })),
  );
  const free = slots.find((slot) => !findRunningJob(context.world, slot));
  return { ...(free ?? slots[0]!), isFree: free !== undefined };
}

/** The connections that a job with these fields may have. @throws ApiError INVALID_INPUT if there is none */
function chooseConnections(
  { connection_id, organization_id }: Partial<ConnectorJob>,
  context: FactoryContext,
): Connection[] {
  if (connection_id !== undefined)
    return [
      requireReferencedRecord(context.world, connections, { field: "connection_id", id: connection_id }),
    ];
  requireFirstRecord(context, connections, "connection_id", organization_id);
  return listDefaultRecords(context, connections, organization_id).page(0, MAX_SCANNED);
}

const entryFormat = createEntryFormat(ConnectorJob, {
  required: ["job_id", "connection_id"],
  notNull: ["duration"],
});

export const connectorJobsFixture: FixtureReader = {
  keys: { connector_jobs: Type.Array(entryFormat.schema) },
  dependsOnSettings: ["connector_job_seconds", "connector_failure_rate"],
  check(fixture, report) {
    const running = new Set<string>();
    const organizations = readOrganizations(fixture, "connections");
    for (const [position, entry] of readEntries(fixture, "connector_jobs", entryFormat).entries()) {
      const { connection_id, job_type = "sync", status, duration } = entry;
      const reportField = (field: string, message: string) =>
        report(["connector_jobs", position, field], message);
      const organization_id = organizations.get(connection_id);
      if (organization_id && (entry.organization_id ?? organization_id) !== organization_id)
        reportField("organization_id", `${connection_id} belongs to another organization`);
      if (status !== "running") continue;
      const slot = `${connection_id} ${job_type}`;
      if (running.has(slot)) reportField("status", `another ${job_type} job of ${connection_id} is running`);
      if (duration !== undefined) reportField("duration", "a running job has no duration yet");
      reportContradictions(entry, status, ["bytes_synced", "rows_synced"], reportField);
      running.add(slot);
    }
  },
  addRecords(fixture, base) {
    const entries = readEntries(fixture, "connector_jobs", entryFormat);
    const makeJob = (entry: FixtureEntry<typeof entryFormat>) =>
      makeConnectorJob(entryFormat.toFields(entry, base), base.createContext("connector_jobs", entry.job_id));
    base.fill(connectorJobs, () => entries.map(makeJob));
    for (const entry of entries) {
      if (entry.status !== "running") continue;
      const { job_id, due, fails_at } = makeJob(entry);
      base.addTimer({ kind: "connector.job", subject: job_id, due: fails_at ?? due! });
    }
  },
};
