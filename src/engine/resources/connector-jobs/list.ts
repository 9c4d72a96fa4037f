import type { DateSpan } from "../../contract/instant.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { View } from "../../state/view.ts";
import {
  type ConnectorJob,
  connectorJobs,
  type JobFilter,
  type JobOrder,
  jobGroup,
  ORDER_OF,
} from "./schema.ts";

export interface JobSelection {
  organization_id: string;
  filter: JobFilter;
  order_by: JobOrder;
  span: DateSpan;
}

/**
 * Filtered, then ordered, from indexes. Only dates together with an order by duration, which no index
 * serves at once, cost as much as the jobs of those dates.
 */
export function selectJobs(
  world: WorldReader,
  { organization_id, filter, order_by, span: { from, to } }: JobSelection,
): View<ConnectorJob> {
  const group = jobGroup(organization_id, filter);
  const list = world.index(connectorJobs, order_by, group);
  if (order_by === "-start_time") return list.between(-to, -from);
  if (order_by === "start_time") return list.between(from, to);
  if (from === Number.NEGATIVE_INFINITY && to === Number.POSITIVE_INFINITY) return list;
  const orderOf = ORDER_OF[order_by];
  const within = [...world.index(connectorJobs, "start_time", group).between(from, to)];
  within.sort((a, b) => compare(orderOf(a), orderOf(b)) || compare(a.job_id, b.job_id));
  return View.ofList(within);
}

// Not a difference: two jobs that run are both at infinity.
function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
