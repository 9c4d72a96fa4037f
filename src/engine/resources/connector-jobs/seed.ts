import Type from "typebox";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { makeConnectorJob } from "./make.ts";
import { ConnectorJob, connectorJobs } from "./schema.ts";

const record = fixtureRecord(ConnectorJob, { needs: ["job_id", "connection_id"], notNull: ["duration"] });

export const connectorJobsFixture: FixtureReader = {
  keys: { connector_jobs: Type.Array(record.schema) },
  follows: ["connector_job_seconds", "connector_failure_rate"],
  check(fixture, report) {
    const running = new Set<string>();
    for (const [position, entry] of entriesOf(fixture, "connector_jobs", record).entries()) {
      const { connection_id, job_type = "sync", status, duration } = entry;
      const at = (field: string) => ["connector_jobs", position, field];
      if (status !== "running") continue;
      const slot = `${connection_id} ${job_type}`;
      if (running.has(slot)) report(at("status"), `another ${job_type} job of ${connection_id} is running`);
      if (duration !== undefined) report(at("duration"), "a running job has no duration yet");
      running.add(slot);
    }
  },
  seed(fixture, base) {
    const entries = entriesOf(fixture, "connector_jobs", record);
    const jobOf = (entry: EntryOf<typeof record>) =>
      makeConnectorJob(record.given(entry, base), base.context("connector_jobs", entry.job_id));
    base.fill(connectorJobs, () => entries.map(jobOf));
    for (const entry of entries) {
      if (entry.status !== "running") continue;
      const { job_id, due, fails_at } = jobOf(entry);
      base.timer({ kind: "connector.job", subject: job_id, due: fails_at ?? due! });
    }
  },
};
