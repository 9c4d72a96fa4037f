import type { Resource } from "../../contract/resource.ts";
import { listChangeLogs } from "./operations.ts";
import { changeLogs } from "./schema.ts";
import { changeLogsFixture } from "./seed.ts";
import { changeLogRules } from "./state.ts";

export const changeLogsResource: Resource = {
  name: "change_logs",
  collections: [changeLogs],
  operations: [listChangeLogs],
  fixture: changeLogsFixture,
  state: { change_logs: changeLogRules },
};
