import type { Resource } from "../../contract/resource.ts";
import { changeLogsFixture, makeChangeLog } from "./fixtures.ts";
import { listChangeLogs } from "./operations.ts";
import { changeLogs } from "./schema.ts";

export const changeLogsResource = {
  name: "change_logs",
  collections: [changeLogs],
  operations: [listChangeLogs],
  factories: { change_logs: makeChangeLog },
  fixture: changeLogsFixture,
} satisfies Resource;
