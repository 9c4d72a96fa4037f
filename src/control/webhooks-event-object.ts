import type { EventName } from "../contract/event-names.ts";
import { nearest } from "../documents/nearest.ts";
import { apiKeys } from "../resources/api-keys/schema.ts";
import { organizations } from "../resources/organizations/schema.ts";
import { budgetsOf } from "../resources/usage/budgets.ts";
import { currentMonth } from "../resources/usage/months.ts";
import { limitFigures } from "../resources/usage/rules.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Transaction } from "../state/transaction.ts";
import { EVENT_SHAPES, eventData } from "../webhooks/event-data.ts";
import type { ControlServer } from "./operation.ts";
import { quoted, unprocessable } from "./problem.ts";
import { stateCollections } from "./state/state-collection.ts";

interface EventObject {
  data: Record<string, unknown>;
  organization_id: string | undefined;
}

/** What the change that an event tells of has made true of its object. */
const IMPLIED: Partial<Record<EventName, Record<string, unknown>>> = {
  "user.verified": { verified: true },
  "file.processed": { status: "completed" },
  "invoice.paid": { status: "paid" },
  "invoice.failed": { status: "failed" },
};

/**
 * The data of an event about an object of the sandbox, and the organization that hears of it.
 * @throws Problem 422 for an id that the event's collection does not hold
 */
export function aboutObject(
  tx: Transaction,
  server: ControlServer,
  { event, id }: { event: EventName; id: string },
): EventObject {
  if (event.startsWith("usage.")) return aboutUsage(tx, id);
  const name = EVENT_SHAPES[event].collection;
  const collection = collectionNamed(server, name);
  const record = collection && tx.get(collection, id);
  if (record === undefined) throw unknownObject(tx, { collection, id, what: `the ${name} of this sandbox` });
  const extra = {
    ...(event === "file.processed" ? { store_id: storeOf(tx, server, id) } : {}),
    ...IMPLIED[event],
  };
  return {
    data: eventData(event, record, { world: tx, extra }),
    organization_id: organizationOf(tx, server, record),
  };
}

/** Usage is told of an organization or of an API key in the organization that it acts in. */
function aboutUsage(tx: Transaction, id: string): EventObject {
  const key = tx.get(apiKeys, id);
  const organization_id = key?.current ?? tx.get(organizations, id)?.id;
  if (organization_id === undefined) {
    const what = "the organizations or api_keys of this sandbox";
    throw unknownObject(tx, { collection: id.startsWith("apikey_") ? apiKeys : organizations, id, what });
  }
  const budgets = budgetsOf(tx, { organization_id, api_key_id: key?.id ?? null }, currentMonth(tx));
  const { scope, api_key_id, limit, spentMicro } = key ? budgets.at(-1)! : budgets[0]!;
  const { monthly_limit, current_usage, utilization_percentage } = limitFigures(spentMicro, limit);
  const figures = { monthly_limit, current_usage, utilization_percentage };
  return {
    data: { organization_id, scope, ...(api_key_id === undefined ? {} : { api_key_id }), ...figures },
    organization_id,
  };
}

/** Its own, that of its thread, or the first that a user belongs to. */
function organizationOf(tx: Transaction, server: ControlServer, record: StoredRecord): string | undefined {
  const { organization_id, thread_id, memberships } = record as {
    organization_id?: string;
    thread_id?: string;
    memberships?: Record<string, string>;
  };
  if (organization_id !== undefined) return organization_id;
  if (memberships !== undefined) return Object.keys(memberships)[0];
  const threads = collectionNamed(server, "threads");
  const thread = threads && thread_id !== undefined ? tx.get(threads, thread_id) : undefined;
  return (thread as { organization_id?: string } | undefined)?.organization_id;
}

/** The store that a file is in; null where it is in none. */
function storeOf(tx: Transaction, server: ControlServer, file_id: string): string | null {
  const storeFiles = collectionNamed(server, "store_files");
  if (storeFiles === undefined) return null;
  for (const record of tx.all(storeFiles)) {
    const entry = record as { file_id?: string; store_id?: string };
    if (entry.file_id === file_id) return entry.store_id ?? null;
  }
  return null;
}

function collectionNamed(server: ControlServer, name: string): AnyCollection | undefined {
  return stateCollections(server.resources).get(name)?.collection;
}

function unknownObject(
  tx: Transaction,
  { collection, id, what }: { collection: AnyCollection | undefined; id: string; what: string },
) {
  const known = collection ? tx.all(collection).page(0, 1000).map(collection.idOf) : [];
  return unprocessable("for", id, `must be the id of one of ${what}, not ${quoted(id)}`, nearest(id, known));
}
