import { Type } from "typebox";
import { parseDateSpan } from "../../contract/instant.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource } from "../../contract/resource.ts";
import { DateOrInstant, Id, PageParameter, StringEnum } from "../../contract/schema.ts";
import { ADMINISTRATOR_ERRORS, requireAdministrator } from "../organizations/access.ts";
import { changeLogsFixture, makeChangeLog } from "./fixtures.ts";
import {
  CHANGE_ACTIONS,
  ChangeLogBody,
  changeLogs,
  clearChangesOfCreation,
  RESOURCE_TYPES,
  renderChangeLog,
  toChangeLogGroup,
} from "./schema.ts";

const listChangeLogs = operation({
  id: "change_logs.list",
  section: "4.16",
  assumptions: ["G02", "G03", "G08", "G28", "G31"],
  assumed: {
    envelope: "G02",
    values: { "/logs/*/action": "G31", "/logs/*/resource_type": "G31" },
  },
  reads: true,
  route: "POST /v1/organizations/{organization_id}/dashboard/change-logs",
  summary: "List an organization's change log",
  description: "Entries are newest first. Each filter is optional, and so is the body.",
  params: Type.Object({ organization_id: Id("org_") }),
  body: {
    kind: "json",
    optional: true,
    default: {},
    schema: Type.Object({
      skip: PageParameter({ minimum: 0, default: 0 }),
      take: PageParameter({ minimum: 1, maximum: 100, default: 50 }),
      start_date: Type.Optional(DateOrInstant()),
      end_date: Type.Optional(DateOrInstant()),
      resource_type: Type.Optional(StringEnum(RESOURCE_TYPES)),
      action: Type.Optional(StringEnum(CHANGE_ACTIONS)),
    }),
  },
  errors: ADMINISTRATOR_ERRORS,
  success: {
    status: 200,
    schema: Type.Object({
      logs: Type.Array(ChangeLogBody),
      total_count: Type.Integer(),
      skip: Type.Integer(),
      take: Type.Integer(),
    }),
  },
  access: (call) => requireAdministrator(call, call.params.organization_id),
  handle({ params: { organization_id }, body, world }) {
    const { skip, take } = body;
    const entries = world
      .index(changeLogs, "newest", toChangeLogGroup(organization_id, body))
      .inSpan(parseDateSpan(body, world));
    return {
      logs: entries.page(skip, take).map((entry) => renderChangeLog(entry, world)),
      total_count: entries.size,
      skip,
      take,
    };
  },
});

export const changeLogsResource = {
  name: "change_logs",
  collections: [changeLogs],
  operations: [listChangeLogs],
  factories: { change_logs: makeChangeLog },
  fixture: changeLogsFixture,
  state: {
    change_logs: { update: (tx, _before, after) => tx.put(changeLogs, clearChangesOfCreation(after)) },
  },
} satisfies Resource;
