import type { Resource } from "../../contract/resource.ts";
import { connectorJobsFixture, makeConnectorJob } from "./fixtures.ts";
import {
  cancelConnectorJob,
  listConnectorJobs,
  retrieveConnectorJob,
  triggerConnectorJob,
} from "./operations.ts";
import { completeJob } from "./rules.ts";
import { connectorJobs } from "./schema.ts";
import { connectorJobRules } from "./state.ts";

export const connectorJobsResource = {
  name: "connector_jobs",
  collections: [connectorJobs],
  operations: [listConnectorJobs, retrieveConnectorJob, triggerConnectorJob, cancelConnectorJob],
  factories: { connector_jobs: makeConnectorJob },
  fixture: connectorJobsFixture,
  state: { connector_jobs: connectorJobRules },
  timers: { "connector.job": completeJob },
} satisfies Resource;
