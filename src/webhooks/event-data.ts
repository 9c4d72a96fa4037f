import type { EventName } from "../contract/event-names.ts";
import type { WorldReader } from "../state/transaction.ts";

/** What an event says of its object (G25). One row per event; a new event is a row here and an `emit`. */
export interface EventShape {
  /** The object's collection, by its name in state calls. */
  collection: string;
  /** The names in the payload's data. `<resource>_id` is the object's own id, whatever its record calls it. */
  fields: readonly string[];
}

const user = ["user_id", "name", "email", "account", "verified", "created_at"];
const message = ["message_id", "thread_id", "role", "content", "created_at"];
const thread = ["thread_id", "organization_id", "owner_id", "title", "created_at"];
const file = [
  "file_id",
  "object",
  "filename",
  "mime_type",
  "file_size",
  "organization_id",
  "status",
  "gcs_path",
  "created_at",
  "created_by",
];
const usage = [
  "organization_id",
  "scope",
  "api_key_id",
  "monthly_limit",
  "current_usage",
  "utilization_percentage",
];
const invoice = ["invoice_id", "organization_id", "amount", "currency", "status", "created_at"];

export const EVENT_SHAPES: Readonly<Record<EventName, EventShape>> = {
  // 6.2 shows these three and no more.
  "user.created": { collection: "users", fields: ["user_id", "email", "created_at"] },
  "user.updated": { collection: "users", fields: user },
  "user.deleted": { collection: "users", fields: user },
  "user.verified": { collection: "users", fields: user },
  "message.created": { collection: "messages", fields: message },
  "message.updated": { collection: "messages", fields: message },
  "message.deleted": { collection: "messages", fields: message },
  "thread.created": { collection: "threads", fields: thread },
  "thread.updated": { collection: "threads", fields: thread },
  "thread.deleted": { collection: "threads", fields: ["thread_id", "organization_id"] },
  "file.uploaded": { collection: "files", fields: file },
  "file.deleted": { collection: "files", fields: file },
  "file.processed": { collection: "files", fields: [...file, "store_id"] },
  "usage.threshold": { collection: "organizations", fields: usage },
  "usage.limit": { collection: "organizations", fields: usage },
  "invoice.created": { collection: "invoices", fields: invoice },
  "invoice.paid": { collection: "invoices", fields: invoice },
  "invoice.failed": { collection: "invoices", fields: invoice },
};

/**
 * An event's data from its object's record: the public fields in the row's order, instants as ISO 8601.
 * `extra` stands in for what the record does not hold, such as the store of a processed file.
 */
export function eventData(
  event: EventName,
  record: object,
  { world, extra = {} }: { world: WorldReader; extra?: Record<string, unknown> },
): Record<string, unknown> {
  const source = { ...record, ...extra } as Record<string, unknown>;
  const own = ownIdField(event);
  const data: Record<string, unknown> = {};
  for (const field of EVENT_SHAPES[event].fields) {
    const value = field === own ? (source[field] ?? source["id"]) : source[field];
    if (value === undefined) continue;
    data[field] = typeof value === "number" && field.endsWith("_at") ? world.iso(value) : value;
  }
  return data;
}

/** `user_id` of `user.created`; usage events are about figures and have no id of their own. */
export function ownIdField(event: EventName): string | undefined {
  const [resource] = event.split(".");
  return resource === "usage" ? undefined : `${resource}_id`;
}
