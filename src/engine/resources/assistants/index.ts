import type { Resource } from "../../contract/resource.ts";
import { makeAssistant, makeHistoryEntry } from "./make.ts";
import { listAssistantHistory } from "./operations.ts";
import { assistantHistory, assistants } from "./schema.ts";
import { assistantsFixture } from "./seed.ts";
import { assistantRules } from "./state.ts";

export const assistantsResource = {
  name: "assistants",
  collections: [assistants, assistantHistory],
  operations: [listAssistantHistory],
  factories: { assistants: makeAssistant, assistant_history: makeHistoryEntry },
  fixture: assistantsFixture,
  state: { assistants: assistantRules },
} satisfies Resource;
