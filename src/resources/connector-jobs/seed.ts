import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, Words } from "../../contract/schema.ts";
import { DEFAULT_SETTINGS } from "../../contract/settings.ts";
import { connectionEntries } from "../connections/seed.ts";
import { entriesOf, firstOrganization, generatedId } from "../organizations/of-fixture.ts";
import { jobLength, plannedTotals } from "./rules.ts";
import { type ConnectorJob, connectorJobs, JOB_STATUSES, JOB_TYPES, JobId } from "./schema.ts";

const HOUR = 3_600_000;

/** A job that began at an instant of its own choice began within the first 20 of the default 30 seconds. */
const DEFAULT_LENGTH = jobLength(DEFAULT_SETTINGS);

const JobEntry = Type.Object(
  {
    job_id: JobId(),
    organization_id: Type.Optional(Id("org_")),
    connection_id: Id("conn_"),
    job_type: Type.Optional(Words(JOB_TYPES)),
    status: Type.Optional(Words(JOB_STATUSES)),
    start_time: Type.Optional(Timestamp()),
    duration: Type.Optional(Type.Integer({ minimum: 0 })),
    bytes_synced: Type.Optional(Type.Integer({ minimum: 0 })),
    rows_synced: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof JobEntry>;

export const connectorJobsFixture: FixtureReader = {
  keys: { connector_jobs: Type.Array(JobEntry) },
  follows: ["connector_job_seconds"],
  check(fixture, report) {
    const running = new Set<string>();
    for (const [position, { connection_id, job_type = "sync", status, duration }] of entries(
      fixture,
    ).entries()) {
      if (status !== "running") continue;
      const slot = `${connection_id} ${job_type}`;
      if (running.has(slot)) {
        report(
          ["connector_jobs", position, "status"],
          `another ${job_type} job of ${connection_id} is running`,
        );
      }
      if (duration !== undefined)
        report(["connector_jobs", position, "duration"], "a running job has no duration yet");
      running.add(slot);
    }
  },
  seed(fixture, base) {
    for (const entry of entries(fixture)) {
      if (entry.status !== "running") continue;
      const { job_id, due } = jobOf(entry, firstOrganization(fixture), base);
      base.timer({ kind: "connector.job", subject: job_id, due: due! });
    }
    base.fill(connectorJobs, () => {
      const homes = new Map(
        connectionEntries(fixture).map(({ id, organization_id }) => [id, organization_id]),
      );
      const first = firstOrganization(fixture);
      return entries(fixture).map((entry) => jobOf(entry, homes.get(entry.connection_id) ?? first, base));
    });
  },
};

function entries(fixture: FixtureData): readonly Entry[] {
  const known = connectionEntries(fixture);
  return entriesOf<Entry>(fixture, "connector_jobs", (n) => ({
    job_id: generatedId("job_", n),
    connection_id: known[n % known.length]?.id ?? "conn_drive",
  }));
}

function jobOf(entry: Entry, home: string, base: BaseBuilder): ConnectorJob {
  const random = base.random("connector_jobs", entry.job_id);
  const status = entry.status ?? "succeeded";
  const running = status === "running";
  const length = jobLength(base.settings);
  const totals = plannedTotals(random);
  const duration = entry.duration ?? random.int(5, 120);
  const start_time = entry.start_time
    ? base.instant(entry.start_time)
    : running
      ? -Math.round((random.int(1, 20) * 1000 * length) / DEFAULT_LENGTH)
      : -random.int(2, 400) * HOUR;
  return {
    job_id: entry.job_id,
    status,
    job_type: entry.job_type ?? "sync",
    start_time,
    connection_id: entry.connection_id,
    bytes_synced: running ? 0 : (entry.bytes_synced ?? (status === "succeeded" ? totals.bytes_total : 0)),
    rows_synced: running ? 0 : (entry.rows_synced ?? (status === "succeeded" ? totals.rows_total : 0)),
    duration: running ? null : duration,
    organization_id: entry.organization_id ?? home,
    due: running ? start_time + length : null,
    ...totals,
  };
}
