import type { Resource } from "../../contract/resource.ts";
import { apiKeysFixture, makeApiKey } from "./fixtures.ts";
import { apiKeys } from "./schema.ts";
import { apiKeyState } from "./state.ts";

export const apiKeysResource = {
  name: "api_keys",
  collections: [apiKeys],
  operations: [],
  factories: { api_keys: makeApiKey },
  fixture: apiKeysFixture,
  state: { api_keys: apiKeyState },
} satisfies Resource;
