import { type Static, type TSchema, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, Instant, StringEnum, UserId } from "../../contract/schema.ts";
import { collection, listFilterGroups, toFilterGroup } from "../../state/collection.ts";

/** The types and actions of 4.16. */
export const RESOURCE_TYPES = ["organization_user", "assistant", "rule", "document"] as const;
export const CHANGE_ACTIONS = [
  "created",
  "updated",
  "deleted",
  "added",
  "removed",
  "restored",
  "entity_attached",
  "entity_detached",
] as const;

/** A changed field (section 2.6). The entry of a creation has none. */
export const FieldChange = Type.Object({
  field: Type.String(),
  old_value: Type.Unknown(),
  new_value: Type.Unknown(),
});
export type FieldChange = Static<typeof FieldChange>;

/** The entry without changes if it is that of a creation (section 2.6). */
export function clearChangesOfCreation<E extends { action: string; changes: FieldChange[] }>(entry: E): E {
  return entry.action === "created" ? { ...entry, changes: [] } : entry;
}

/** The fields that entries of assistant history and of the change log share, in the order of section 2.6. */
export function createEntryFields<T extends TSchema, A extends TSchema>(schemas: {
  resource_type: T;
  action: A;
}) {
  return {
    id: Id("log_"),
    timestamp: Instant(),
    resource_type: schemas.resource_type,
    resource_id: Type.String({ minLength: 1 }),
    resource_name: Type.String(),
    action: schemas.action,
    user_id: UserId(mentions("users")),
    user_name: Type.String(),
    user_email: Type.String(),
    changes: Type.Array(FieldChange),
  };
}

export const ChangeLog = Type.Object({
  organization_id: Id("org_", belongsTo("organizations")),
  ...createEntryFields({ resource_type: StringEnum(RESOURCE_TYPES), action: StringEnum(CHANGE_ACTIONS) }),
});
export type ChangeLog = Static<typeof ChangeLog>;

/** An entry as answers show it (section 2.6). The `metadata` of section 2.6 exists in assistant history only. */
export const { schema: ChangeLogBody, render: renderChangeLog } = publicView(ChangeLog, {
  $id: "ChangeLog",
  omit: ["organization_id"],
});

export const toChangeLogGroup = (
  organization_id: string,
  { resource_type, action }: { resource_type?: string; action?: string },
) => toFilterGroup(organization_id, resource_type, action);

export const changeLogs = collection({
  name: "change_logs",
  schema: ChangeLog,
  indexes: {
    newest: {
      groups: ({ organization_id, resource_type, action }) =>
        listFilterGroups(organization_id, resource_type, action),
      order: ({ timestamp }) => -timestamp,
    },
  },
});
