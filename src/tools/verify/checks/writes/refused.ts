import type { Check } from "../../check.ts";
import type { Contract } from "../../contract.ts";
import { type Case, refusals, UNSHOWN, unknown } from "../refusals.ts";

const OWN = { organization_id: "organization_id" };
const invalid = (operation: string, field: string, rest: Partial<Case>): Case => ({
  operation,
  name: `invalid-${field.replaceAll(/\W+/g, "-")}`,
  title: `${field} is refused with 422`,
  code: "INVALID_INPUT",
  more: { field },
  gap: "G08",
  ...rest,
});
const HOOK = { url: "https://understudy-verify.invalid/hook", events: ["user.created"] };
const ELEVEN = Array.from({ length: 11 }, () => ({ file_id: "file_nobody0" }));

/**
 * Writing calls that a service must refuse. They name objects that nobody has, or values that cannot be,
 * so that nothing is changed where it refuses as it should; deletions are tried in no other way.
 */
export const WRITING_REFUSALS: readonly Case[] = [
  unknown("threads.delete", "thread_id", { details: [] }),
  unknown("meeting_sessions.delete_permanently", "session_id", { code: "SESSION_NOT_FOUND" }),
  unknown("meeting_sessions.stop", "session_id", { code: "SESSION_NOT_FOUND" }),
  unknown("share_links.revoke", "dashboard_id", { code: "DASHBOARD_NOT_FOUND" }),
  unknown("departments.reparent", "department_id", {
    known: OWN,
    body: { new_parent_id: null },
    ...UNSHOWN,
  }),
  unknown("webhooks.update", "webhook_id", { body: { active: false }, ...UNSHOWN }),
  unknown("webhooks.delete", "webhook_id", UNSHOWN),
  unknown("webhooks.test", "webhook_id", UNSHOWN),
  unknown("connector_jobs.cancel", "job_id", { known: OWN }),
  unknown("store_files.attach", "store_id", { known: OWN, body: { file_id: "file_nobody0" } }),
  invalid("webhooks.create", "url", { body: { ...HOOK, url: "nowhere" } }),
  invalid("webhooks.create", "events[0]", { body: { ...HOOK, events: ["nothing.happened"] } }),
  invalid("webhooks.create", "events", { body: { ...HOOK, events: [] } }),
  invalid("users.set_current_organization", "organization_id", { body: { organization_id: "nobody0" } }),
  invalid("connector_jobs.trigger", "job_type", {
    known: OWN,
    body: { connection_id: "conn_nobody0", job_type: "polish" },
  }),
  unknown("connector_jobs.trigger", "connection_id", {
    known: OWN,
    details: [],
    body: { connection_id: "conn_nobody0", job_type: "sync" },
    gap: "G14",
  }),
  invalid("connector_notifications.test", "notification_type", {
    known: OWN,
    body: { notification_type: "pigeon" },
  }),
  invalid("model_responses.create", "inputs", { body: { model: "nobody0", inputs: [] } }),
  invalid("model_responses.create", "inputs[0].files", {
    body: { model: "nobody0", inputs: [{ role: "user", content: "none", files: ELEVEN }] },
  }),
  invalid("model_responses.create", "model", {
    body: { model: "nobody0", inputs: [{ role: "user", content: "none" }] },
    gap: "G20",
  }),
  invalid("files.create_upload_url", "file_size", {
    known: OWN,
    body: { filename: "a.txt", mime_type: "text/plain", file_size: -1 },
  }),
  {
    operation: "users.set_current_organization",
    name: "unknown",
    title: "an organization that is not the user's is 403",
    code: "INSUFFICIENT_PERMISSIONS",
    body: { organization_id: "org_nobody0" },
    gap: "G03",
  },
];

export const refusedChecks = (contract: Contract): Check[] => refusals(contract, WRITING_REFUSALS, "writes");
