import type { Resource } from "../../contract/resource.ts";
import { listAssistantHistory } from "./operations.ts";
import { assistantHistory, assistants } from "./schema.ts";
import { assistantsFixture } from "./seed.ts";
import { assistantRules, historyRules } from "./state.ts";

export const assistantsResource: Resource = {
  name: "assistants",
  collections: [assistants, assistantHistory],
  operations: [listAssistantHistory],
  fixture: assistantsFixture,
  state: { assistants: assistantRules, assistant_history: historyRules },
};
