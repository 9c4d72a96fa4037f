import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo } from "../../contract/references.ts";
import { Id, Instant, internal, Nullable, NullableInstant, StringEnum } from "../../contract/schema.ts";
import { collection, listFilterGroups, toFilterGroup } from "../../state/collection.ts";

export const JOB_TYPES = ["sync", "reset"] as const;
export const JOB_STATUSES = ["running", "succeeded", "failed", "cancelled"] as const;
export const JOB_ORDERS = ["-start_time", "start_time", "-duration", "duration"] as const;
export type JobOrder = (typeof JOB_ORDERS)[number];

/** The reference shows no prefix for job ids; ours begin with `job_`, and are at most as long as other ids (G38). */
export const JobId = () => Type.String({ pattern: "^[A-Za-z0-9_-]{1,124}$", examples: ["job_example"] });

/**
 * A connector job (section 2.10). The figures of a running job follow from its totals and the clock; the stored `bytes_synced`
 * and `rows_synced` are those of its end.
 */
export const ConnectorJob = Type.Object({
  job_id: JobId(),
  status: StringEnum(JOB_STATUSES),
  job_type: StringEnum(JOB_TYPES),
  start_time: Instant(),
  connection_id: Id("conn_", belongsTo("connections")),
  bytes_synced: Type.Integer({ minimum: 0 }),
  rows_synced: Type.Integer({ minimum: 0 }),
  duration: Nullable(Type.Integer({ minimum: 0, description: "Seconds; null while running" })),
  organization_id: Id("org_", belongsTo("organizations")),
  /** The end of a running job that does not fail, from which its figures follow; null once it has ended. */
  due: internal(NullableInstant()),
  /** The instant at which the job will fail; null if it will succeed, and once it has ended. */
  fails_at: internal(NullableInstant()),
  bytes_total: internal(Type.Integer({ minimum: 0 })),
  rows_total: internal(Type.Integer({ minimum: 0 })),
});
export type ConnectorJob = Static<typeof ConnectorJob>;

export const { schema: ConnectorJobBody, render: renderStoredJob } = publicView(ConnectorJob, {
  $id: "ConnectorJob",
  omit: ["organization_id"],
});

/** The name of the index's group with the jobs that pass these filters. */
export function toJobGroup(
  organization_id: string,
  { connection_id, job_type, status }: Partial<Pick<ConnectorJob, "connection_id" | "job_type" | "status">>,
): string {
  return toFilterGroup(organization_id, connection_id, job_type, status);
}

const listGroups = ({ organization_id, connection_id, job_type, status }: ConnectorJob) =>
  listFilterGroups(organization_id, connection_id, job_type, status);

/** The sort key of each order. A job without a duration comes last in both directions (G14). */
const SORT_KEYS: Readonly<Record<JobOrder, (job: ConnectorJob) => number>> = {
  "-start_time": ({ start_time }) => -start_time,
  start_time: ({ start_time }) => start_time,
  "-duration": ({ duration }) => (duration === null ? Number.POSITIVE_INFINITY : -duration),
  duration: ({ duration }) => duration ?? Number.POSITIVE_INFINITY,
};

export const connectorJobs = collection({
  name: "connector_jobs",
  prefix: "job_",
  idField: "job_id",
  schema: ConnectorJob,
  timer: "connector.job",
  indexes: {
    ...Object.fromEntries(JOB_ORDERS.map((name) => [name, { groups: listGroups, order: SORT_KEYS[name] }])),
    running: {
      groups: ({ status, connection_id, job_type }) =>
        status === "running" ? [`${connection_id}|${job_type}`] : [],
      order: ({ start_time }) => start_time,
    },
  },
});
