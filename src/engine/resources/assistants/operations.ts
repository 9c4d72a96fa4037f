import { Type } from "typebox";
import { resourceNotFound } from "../../contract/errors.ts";
import { parseDateSpan } from "../../contract/instant.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource } from "../../contract/resource.ts";
import { DateOrInstant, Id, PageParameter, StringEnum, UserId } from "../../contract/schema.ts";
import { clearChangesOfCreation } from "../change-logs/schema.ts";
import { isMember } from "../organizations/access.ts";
import { assistantsFixture, makeAssistant, makeHistoryEntry } from "./fixtures.ts";
import { assistantStateRules } from "./rules.ts";
import {
  assistantHistory,
  assistants,
  HISTORY_ACTIONS,
  HistoryEntryBody,
  renderHistoryEntry,
  toHistoryGroup,
} from "./schema.ts";

const listAssistantHistory = operation({
  id: "assistants.list_history",
  section: "4.8",
  assumptions: ["G03", "G08", "G18", "G28"],
  assumed: {
    values: { "/audit_logs/*/action": "G31", "/audit_logs/*/resource_type": "G31" },
  },
  route: "GET /v1/assistants/{assistant_id}/history",
  summary: "List an assistant's change history",
  description: "Entries are newest first. The history remains after the assistant is deleted.",
  params: Type.Object({ assistant_id: Id("asst_") }),
  query: Type.Object({
    action: Type.Optional(StringEnum(HISTORY_ACTIONS)),
    user_id: Type.Optional(UserId()),
    start_date: Type.Optional(DateOrInstant()),
    end_date: Type.Optional(DateOrInstant()),
    limit: PageParameter({ minimum: 1, maximum: 100, default: 50 }),
    offset: PageParameter({ minimum: 0, default: 0 }),
  }),
  envelope: "B",
  // The 403 of G03 can only be injected: a foreign assistant is answered with 404, like an unknown one (G18).
  errors: [{ code: "INSUFFICIENT_PERMISSIONS", details: ["assistant_id"] }, "RESOURCE_NOT_FOUND"],
  success: {
    status: 200,
    schema: Type.Object({
      audit_logs: Type.Array(HistoryEntryBody),
      pagination: Type.Object({
        total: Type.Integer(),
        limit: Type.Integer(),
        offset: Type.Integer(),
        has_more: Type.Boolean(),
      }),
    }),
  },
  access(call) {
    const { assistant_id } = call.params;
    // The history of a deleted assistant remains.
    const record =
      call.world.get(assistants, assistant_id) ??
      call.world.index(assistantHistory, "newest", toHistoryGroup(assistant_id, {})).first();
    if (record === undefined || !isMember(call, record.organization_id))
      throw resourceNotFound("assistant_id", assistant_id);
  },
  handle({ params: { assistant_id }, query, world }) {
    const { limit, offset } = query;
    const entries = world
      .index(assistantHistory, "newest", toHistoryGroup(assistant_id, query))
      .inSpan(parseDateSpan(query, world));
    return {
      audit_logs: entries.page(offset, limit).map((entry) => renderHistoryEntry(entry, world)),
      pagination: { total: entries.size, limit, offset, has_more: offset + limit < entries.size },
    };
  },
});

export const assistantsResource = {
  name: "assistants",
  collections: [assistants, assistantHistory],
  operations: [listAssistantHistory],
  factories: { assistants: makeAssistant, assistant_history: makeHistoryEntry },
  fixture: assistantsFixture,
  state: {
    assistants: assistantStateRules,
    assistant_history: {
      update: (tx, _before, after) => tx.put(assistantHistory, clearChangesOfCreation(after)),
    },
  },
} satisfies Resource;
