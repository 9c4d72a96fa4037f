import type { StateRules } from "../../contract/resource.ts";
import { recordAssistantChange } from "./record.ts";
import { actionOf, changesBetween } from "./rules.ts";
import { type Assistant, assistants } from "./schema.ts";

/** G18, G31: assistants come and go through state calls, which write what the real service would. */
export const assistantRules: StateRules<Assistant> = {
  insert(tx, record, actor) {
    tx.insert(assistants, record);
    recordAssistantChange(tx, record, { action: "created", changes: [], actor });
    return record;
  },
  update(tx, before, after, actor) {
    tx.put(assistants, after);
    const action = actionOf(before, after);
    const changes = changesBetween(before, after);
    if (changes.length > 0) recordAssistantChange(tx, after, { action: "updated", changes, actor });
    if (action !== "updated") recordAssistantChange(tx, after, { action, changes: [], actor });
    return after;
  },
  remove(tx, record, actor) {
    recordAssistantChange(tx, record, { action: "deleted", changes: [], actor });
  },
};
