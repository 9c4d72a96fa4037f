import { Type } from "typebox";
import { invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { type DateSpan, parseDateSpan } from "../../contract/instant.ts";
import { operation } from "../../contract/operation.ts";
import { noContent } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { DateOrInstant, Id, PageParameter, StringEnum } from "../../contract/schema.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { View } from "../../state/view.ts";
import { connections } from "../connections.ts";
import { type Caller, MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import { connectorJobsFixture, makeConnectorJob } from "./fixtures.ts";
import {
  connectorJobStateRules,
  drawTotals,
  endDueJob,
  endJob,
  findRunningJob,
  planTotals,
  renderJob,
  startJob,
} from "./rules.ts";
import {
  type ConnectorJob,
  ConnectorJobBody,
  connectorJobs,
  JOB_ORDERS,
  JOB_STATUSES,
  JOB_TYPES,
  JobId,
  type JobOrder,
  toJobGroup,
} from "./schema.ts";

const BASE = "/v1/organizations/{organization_id}/knowledge/connectors/jobs";
const JobParams = Type.Object({ organization_id: Id("org_"), job_id: JobId() });

/** The reference shows the names of a job's fields, and the values of `job_type` (section 2.10). */
const JOB_ASSUMED = {
  types: Object.fromEntries(
    Object.keys(ConnectorJobBody.properties)
      .filter((name) => name !== "job_type")
      .map((name) => [`/${name}`, "G14"]),
  ),
  specified: ["/job_type"],
};

const listConnectorJobs = operation({
  id: "connector_jobs.list",
  section: "4.13",
  assumptions: ["G14", "G28"],
  assumed: {
    envelope: "G14",
    fields: { "/total": "G14", "/limit": "G14", "/offset": "G14" },
    types: { "/jobs/*": "G14" },
    specified: ["/jobs/*/job_type"],
  },
  route: `GET ${BASE}`,
  summary: "List connector jobs",
  description:
    "`start_date` and `end_date` filter by `start_time`. In the order of `duration`, running jobs come last.",
  params: Type.Object({ organization_id: Id("org_") }),
  query: Type.Object({
    connection_id: Type.Optional(Id("conn_")),
    job_type: Type.Optional(StringEnum(JOB_TYPES)),
    status: Type.Optional(StringEnum(JOB_STATUSES)),
    start_date: Type.Optional(DateOrInstant()),
    end_date: Type.Optional(DateOrInstant()),
    order_by: StringEnum(JOB_ORDERS, { default: "-start_time" }),
    limit: PageParameter({ minimum: 1, maximum: 100, default: 50 }),
    offset: PageParameter({ minimum: 0, default: 0 }),
  }),
  errors: MEMBER_ERRORS,
  success: {
    status: 200,
    schema: Type.Object({
      jobs: Type.Array(ConnectorJobBody),
      total: Type.Integer(),
      limit: Type.Integer(),
      offset: Type.Integer(),
    }),
  },
  access: (call) => requireMember(call, call.params.organization_id),
  handle({ params: { organization_id }, query, world }) {
    const { limit, offset, order_by } = query;
    const group = toJobGroup(organization_id, query);
    const matching = selectJobs(world, group, order_by, parseDateSpan(query, world));
    const jobs = matching.page(offset, limit).map((job) => renderJob(job, world));
    return { jobs, total: matching.size, limit, offset };
  },
});

const retrieveConnectorJob = operation({
  id: "connector_jobs.retrieve",
  section: "4.13",
  assumptions: ["G14"],
  assumed: { endpoint: "G14", ...JOB_ASSUMED },
  route: `GET ${BASE}/{job_id}`,
  summary: "Retrieve a connector job",
  params: JobParams,
  errors: [...MEMBER_ERRORS, "RESOURCE_NOT_FOUND"],
  success: { status: 200, schema: ConnectorJobBody },
  access: requireJob,
  handle: ({ world }, job) => renderJob(job, world),
});

const triggerConnectorJob = operation({
  id: "connector_jobs.trigger",
  section: "4.13",
  assumptions: ["G14", "G34"],
  assumed: { endpoint: "G14", ...JOB_ASSUMED },
  route: `POST ${BASE}`,
  summary: "Trigger a connector job",
  description:
    "A `reset` job syncs everything again. If the connection still runs a job of the same type, the answer is a 422.",
  params: Type.Object({ organization_id: Id("org_") }),
  body: {
    kind: "json",
    schema: Type.Object({ connection_id: Id("conn_"), job_type: StringEnum(JOB_TYPES) }),
  },
  errors: [...MEMBER_ERRORS, { code: "RESOURCE_NOT_FOUND", details: ["connection_id"] }],
  success: { status: 201, schema: ConnectorJobBody },
  access(call) {
    const { organization_id } = call.params;
    const { connection_id } = call.body;
    requireMember(call, organization_id);
    if (call.world.get(connections, connection_id)?.organization_id !== organization_id)
      throw resourceNotFound("connection_id", connection_id);
  },
  handle({ params: { organization_id }, body: { connection_id, job_type }, world, settings }) {
    const running = findRunningJob(world, { connection_id, job_type });
    if (running) {
      const reason = `the ${job_type} job ${running.job_id} of this connection is running`;
      throw invalidInput("connection_id", connection_id, reason);
    }
    const job_id = world.createId("job_");
    const job = { job_id, organization_id, connection_id, job_type, start_time: world.now };
    const newTotals = drawTotals(world.random("connector_job"));
    const totals = planTotals(world, job, { now: world.now, newTotals });
    return renderJob(startJob(world, { ...job, ...totals }, settings), world);
  },
});

const cancelConnectorJob = operation({
  id: "connector_jobs.cancel",
  section: "4.13",
  assumptions: ["G14"],
  assumed: { endpoint: "G14", specified: ["status"] },
  route: `POST ${BASE}/{job_id}/cancel`,
  summary: "Cancel a running connector job",
  description: "What the job has synced so far stays. If the job is not running, the answer is a 422.",
  params: JobParams,
  errors: [...MEMBER_ERRORS, "RESOURCE_NOT_FOUND"],
  success: { status: 204 },
  access: requireJob,
  handle({ world }, job) {
    if (job.status !== "running")
      throw invalidInput("status", job.status, "only a running job can be cancelled");
    endJob(world, job, { status: "cancelled", at: world.now });
    return noContent();
  },
});

function requireJob(call: Caller & { params: { organization_id: string; job_id: string } }): ConnectorJob {
  const { organization_id, job_id } = call.params;
  requireMember(call, organization_id);
  const job = call.world.get(connectorJobs, job_id);
  if (job?.organization_id !== organization_id) throw resourceNotFound("job_id", job_id);
  return job;
}

/**
 * Selects and orders jobs by an index. Only dates combined with an order by duration have no index: all jobs of the group
 * are then read.
 */
function selectJobs(
  world: WorldReader,
  group: string,
  order_by: JobOrder,
  span: DateSpan,
): View<ConnectorJob> {
  const list = world.index(connectorJobs, order_by, group);
  if (order_by === "-start_time") return list.inSpan(span);
  const { from, to } = span;
  if (order_by === "start_time") return list.between(from, to);
  if (from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY) return list;
  return View.ofList([...list].filter(({ start_time }) => start_time >= from && start_time <= to));
}

export const connectorJobsResource = {
  name: "connector_jobs",
  collections: [connectorJobs],
  operations: [listConnectorJobs, retrieveConnectorJob, triggerConnectorJob, cancelConnectorJob],
  factories: { connector_jobs: makeConnectorJob },
  fixture: connectorJobsFixture,
  state: { connector_jobs: connectorJobStateRules },
  timers: { "connector.job": endDueJob },
} satisfies Resource;
