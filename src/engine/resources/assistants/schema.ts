import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Description, Id, Instant, NullableInstant, StringEnum, UserId } from "../../contract/schema.ts";
import { collection, listFilterGroups, toFilterGroup } from "../../state/collection.ts";
import { createEntryFields } from "../change-logs/schema.ts";

export const HISTORY_ACTIONS = ["created", "updated", "deleted"] as const;

/** An assistant. 2.1 shows none of its fields; these are the fields of its history (G18). */
export const Assistant = Type.Object({
  id: Id("asst_"),
  organization_id: Id("org_", belongsTo("organizations")),
  name: Type.String({ minLength: 1 }),
  description: Description(),
  instructions: Type.String(),
  model: Type.String({ minLength: 1 }),
  temperature: Type.Number({ minimum: 0, maximum: 2 }),
  created_by: UserId(mentions("users")),
  created_at: Instant(),
  /** Null unless the assistant is deleted; a state call that sets null restores it. */
  deleted_at: NullableInstant(),
});
export type Assistant = Static<typeof Assistant>;

export const assistants = collection({
  name: "assistants",
  schema: Assistant,
});

/** An entry of a history (section 2.6). It names its organization itself, because it outlives the assistant (G18). */
export const HistoryEntry = Type.Object({
  organization_id: Id("org_", belongsTo("organizations")),
  ...createEntryFields({ resource_type: Type.Literal("assistant"), action: StringEnum(HISTORY_ACTIONS) }),
  /** The assistant, which may no longer exist. */
  resource_id: Id("asst_"),
  metadata: Type.Object({
    ip_address: Type.String(),
    user_agent: Type.String(),
    source: Type.String(),
  }),
});
export type HistoryEntry = Static<typeof HistoryEntry>;

export const { schema: HistoryEntryBody, render: renderHistoryEntry } = publicView(HistoryEntry, {
  $id: "AssistantHistoryEntry",
  omit: ["organization_id"],
});

export const toHistoryGroup = (
  assistant_id: string,
  { action, user_id }: { action?: string; user_id?: string },
) => toFilterGroup(assistant_id, action, user_id);

export const assistantHistory = collection({
  name: "assistant_history",
  schema: HistoryEntry,
  indexes: {
    newest: {
      groups: ({ resource_id, action, user_id }) => listFilterGroups(resource_id, action, user_id),
      order: ({ timestamp }) => -timestamp,
    },
  },
});
