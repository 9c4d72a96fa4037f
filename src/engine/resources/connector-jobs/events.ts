import { aboutRecords, event } from "../../contract/event.ts";
import { connectorJobs } from "./schema.ts";

/** G15: what notification rules hear of; webhooks of section 6.1 know no such events. */
const job = {
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

export const jobSucceeded = event({
  ...job,
  name: "connector.job.succeeded",
  summary: "A connector job has run its time",
  implies: { status: "succeeded" },
});

export const jobFailed = event({
  ...job,
  name: "connector.job.failed",
  summary: "A connector job failed",
  implies: { status: "failed" },
});

export const JOB_EVENTS = [jobSucceeded, jobFailed] as const;
