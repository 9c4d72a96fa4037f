import type { Resource } from "../../contract/resource.ts";
import { makeChangeLog } from "./make.ts";
import { listChangeLogs } from "./operations.ts";
import { changeLogs } from "./schema.ts";
import { changeLogsFixture } from "./seed.ts";

export const changeLogsResource = {
  name: "change_logs",
  collections: [changeLogs],
  operations: [listChangeLogs],
  factories: { change_logs: makeChangeLog },
  fixture: changeLogsFixture,
} satisfies Resource;
