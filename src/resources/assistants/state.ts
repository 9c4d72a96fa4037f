import type { StateRules } from "../../contract/resource.ts";
import { actorOf } from "../change-logs/actor.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { recordAssistantChange } from "./record.ts";
import { actionOf, changesBetween } from "./rules.ts";
import { type Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";
import { ASSISTANT_NAMES, tuned } from "./words.ts";

/** G18, G31: assistants come and go through state calls, which write what the real service would. */
export const assistantRules: StateRules<Assistant> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    return {
      organization_id,
      name: random.pick(ASSISTANT_NAMES),
      ...tuned(random),
      created_by: actorOf(tx, undefined, organization_id).user_id,
      created_at: tx.now,
      deleted_at: null,
      ...fields,
    };
  },
  insert(tx, record, actor) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    tx.insert(assistants, record);
    recordAssistantChange(tx, record, { action: "created", changes: [], actor });
    return record;
  },
  update(tx, before, after, actor) {
    referred(tx, organizations, { field: "organization_id", id: after.organization_id });
    tx.put(assistants, after);
    const action = actionOf(before, after);
    const changes = changesBetween(before, after);
    if (changes.length > 0) recordAssistantChange(tx, after, { action: "updated", changes, actor });
    if (action !== "updated") recordAssistantChange(tx, after, { action, changes: [], actor });
    return after;
  },
  remove(tx, record, actor) {
    tx.remove(assistants, record.id);
    recordAssistantChange(tx, record, { action: "deleted", changes: [], actor });
  },
};

/** Entries written by hand, such as a history longer than anybody would click together. */
export const historyRules: StateRules<HistoryEntry> = {
  complete(fields, tx, { random }) {
    const assistant =
      fields.resource_id === undefined
        ? anyOf(tx, assistants, "resource_id")
        : tx.get(assistants, fields.resource_id);
    const organization_id =
      fields.organization_id ?? assistant?.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    return {
      organization_id,
      resource_type: "assistant",
      resource_id: assistant?.id,
      resource_name: assistant?.name ?? random.pick(ASSISTANT_NAMES),
      action: "updated",
      timestamp: tx.now,
      changes: [],
      ...actorOf(tx, fields.user_id, organization_id),
      metadata: { ip_address: "127.0.0.1", user_agent: "understudy-control", source: "api" },
      ...fields,
    };
  },
  insert(tx, record) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    return tx.insert(assistantHistory, record);
  },
};
