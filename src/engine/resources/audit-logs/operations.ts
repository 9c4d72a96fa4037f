import Type from "typebox";
import { operation } from "../../contract/operation.ts";
import { Reply, StreamBody } from "../../contract/reply.ts";
import { DateOrInstant, Id, UserId, Words } from "../../contract/schema.ts";
import { ADMINISTRATOR_ERRORS, requireAdministrator } from "../organizations/access.ts";
import { auditCsv, entriesWithin, MAX_ROWS, toMatcher } from "./export.ts";
import { ENTITY_TYPES, NAMED_ACTIONS } from "./schema.ts";

const Optional = Type.Optional;

export const exportAuditLog = operation({
  id: "audit_logs.export",
  section: "4.15",
  assumptions: ["G02", "G03", "G08", "G28"],
  assumed: { envelope: "G02" },
  method: "GET",
  path: "/v1/organizations/{organization_id}/audit-log/export",
  summary: "Export the organization's audit log as CSV",
  description: `Streams the newest ${MAX_ROWS / 1000},000 entries that pass the filters, newest first.`,
  params: Type.Object({ organization_id: Id("org_") }),
  query: Type.Object({
    entity_type: Optional(Words(ENTITY_TYPES)),
    action_type: Optional(Type.String({ description: `Such as ${NAMED_ACTIONS.join(", ")}` })),
    actor_id: Optional(UserId({ description: "The user who acted" })),
    target_id: Optional(
      Type.String({ pattern: "^[a-z]+_[A-Za-z0-9_-]{1,120}$", description: "The target entity" }),
    ),
    department_id: Optional(Id("dept_", { description: "The department concerned" })),
    from_date: Optional(DateOrInstant()),
    to_date: Optional(DateOrInstant()),
    search_term: Optional(
      Type.String({ description: "Part of the entity's name or of the actor's name or e-mail address" }),
    ),
  }),
  errors: ADMINISTRATOR_ERRORS,
  success: {
    status: 200,
    content_types: ["text/csv"],
    headers: ["Content-Disposition"],
    description: "One line of column names, then one line per entry",
  },
  access: (call) => requireAdministrator(call, call.params.organization_id),
  handle({ query, settings, world }, { id }) {
    const source = {
      entries: entriesWithin(world, id, query),
      matches: toMatcher(query),
      iso: (instant: number) => world.iso(instant),
      formulas: settings.csv_formulas,
    };
    const day = world.iso(world.now).slice(0, 10);
    return new Reply(200, new StreamBody("text/csv", (signal) => auditCsv(source, signal)), {
      "Content-Disposition": `attachment; filename="audit-log-${id}-${day}.csv"`,
    });
  },
});
