import type { Resource } from "../../contract/resource.ts";
import { assistantsFixture, makeAssistant, makeHistoryEntry } from "./fixtures.ts";
import { listAssistantHistory } from "./operations.ts";
import { assistantState } from "./rules.ts";
import { assistantHistory, assistants } from "./schema.ts";

export const assistantsResource = {
  name: "assistants",
  collections: [assistants, assistantHistory],
  operations: [listAssistantHistory],
  factories: { assistants: makeAssistant, assistant_history: makeHistoryEntry },
  fixture: assistantsFixture,
  state: { assistants: assistantState },
} satisfies Resource;
