import type { Resource } from "../../contract/resource.ts";
import {
  cancelConnectorJob,
  listConnectorJobs,
  retrieveConnectorJob,
  triggerConnectorJob,
} from "./operations.ts";
import { completeJob } from "./rules.ts";
import { connectorJobs } from "./schema.ts";
import { connectorJobsFixture } from "./seed.ts";
import { connectorJobRules } from "./state.ts";

export const connectorJobsResource: Resource = {
  name: "connector_jobs",
  collections: [connectorJobs],
  operations: [listConnectorJobs, retrieveConnectorJob, triggerConnectorJob, cancelConnectorJob],
  fixture: connectorJobsFixture,
  state: { connector_jobs: connectorJobRules },
  timers: { "connector.job": completeJob },
};
