import type { ErrorCode } from "../../engine/contract/errors.ts";
import type { Basis } from "./verdict.ts";

/** A request that must be refused, and the parts of the refusal that a section shows; all others are assumptions. */
export interface Case {
  operation: string;
  name: string;
  title: string;
  code: ErrorCode;
  /** Parameters whose objects must be known, by their names in `--use`. */
  known?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: object;
  /** Path parameters that the details repeat, and other details. */
  details?: readonly string[];
  more?: Readonly<Record<string, unknown>>;
  gap?: Basis;
  codeGap?: Basis;
  detailsGap?: Basis;
}

const OWN = { organization_id: "organization_id" };
/** A missing resource is 404. If the section shows no code and details, they are assumptions. */
const ASSUMED_CODE = { codeGap: "G27", detailsGap: "G27" };
const unknownCase = (operation: string, details: string, rest: Partial<Case> = {}): Case => ({
  operation,
  name: "unknown",
  title: `unknown ${details} is 404`,
  code: "RESOURCE_NOT_FOUND",
  details: [details],
  ...rest,
});
const unknownOrganizationCase = (operation: string, body?: object): Case =>
  unknownCase(operation, "organization_id", {
    name: "unknown-organization",
    code: "ORGANIZATION_NOT_FOUND",
    gap: "G03",
    body,
  });
const foreignCase = (operation: string, rest: Partial<Case>): Case => ({
  operation,
  name: "foreign",
  title: "an object of another organization is 403",
  // Section 5 states the 403; the code is an assumption.
  code: "ORGANIZATION_ACCESS_DENIED",
  codeGap: "G03",
  detailsGap: "G03",
  known: { organization_id: "foreign_organization_id" },
  ...rest,
});

/** Refusals of reading operations; those of writing operations need `--write`. */
export const READING_REFUSALS: readonly Case[] = [
  unknownCase("meeting_sessions.export_transcript", "session_id", { code: "SESSION_NOT_FOUND" }),
  foreignCase("meeting_sessions.export_transcript", {
    code: "SESSION_ACCESS_DENIED",
    known: { session_id: "foreign_session_id" },
    details: ["session_id"],
    codeGap: undefined,
  }),
  unknownCase("meeting_sessions.stream_status", "session_id", { code: "SESSION_NOT_FOUND" }),
  unknownCase("music_collections.list_tracks", "collection_id", { known: OWN }),
  unknownCase("music_collections.list_tracks", "collection_id", { name: "unknown-organization", gap: "G03" }),
  unknownCase("assistants.list_history", "assistant_id"),
  unknownCase("store_files.retrieve_status", "file_id", {
    code: "FILE_NOT_IN_STORE",
    known: { ...OWN, store_id: "store_id" },
    details: ["file_id", "store_id"],
  }),
  unknownCase("store_files.retrieve_status", "store_id", {
    name: "unknown-store",
    code: "FILE_NOT_IN_STORE",
    known: OWN,
    details: ["file_id", "store_id"],
    gap: "G12",
  }),
  unknownCase("usage.retrieve_limits", "org_id", { code: "ORGANIZATION_NOT_FOUND", details: [] }),
  foreignCase("usage.retrieve_limits", { known: { org_id: "foreign_organization_id" }, codeGap: undefined }),
  {
    operation: "usage.retrieve_limits",
    name: "month",
    title: "a month out of range is 422 with field and value",
    code: "INVALID_INPUT",
    known: { org_id: "organization_id" },
    query: { month: "13" },
    more: { field: "month", value: 13 },
  },
  unknownCase("transcriptions.list_sentences", "transcription_id", ASSUMED_CODE),
  {
    operation: "transcriptions.list_sentences",
    name: "pending",
    title: "a transcription that is not completed is 422",
    code: "INVALID_INPUT",
    known: { transcription_id: "pending_transcription_id" },
    more: { field: "status" },
    gap: "G17",
  },
  unknownCase("transcriptions.list_paragraphs", "transcription_id"),
  unknownCase("connector_jobs.retrieve", "job_id", { known: OWN }),
  unknownCase("webhooks.list_deliveries", "webhook_id", ASSUMED_CODE),
  unknownCase("share_links.resolve", "slug"),
  unknownOrganizationCase("audit_logs.export"),
  unknownOrganizationCase("connector_jobs.list"),
  unknownOrganizationCase("connector_notifications.retrieve"),
  unknownOrganizationCase("change_logs.list", {}),
  foreignCase("audit_logs.export", {}),
  foreignCase("connector_jobs.list", {}),
  foreignCase("change_logs.list", { body: {} }),
];

const invalidCase = (operation: string, field: string, rest: Partial<Case>): Case => ({
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
 * Writing calls that a service must refuse. They have ids of objects that do not exist, or impossible
 * values, so that a correct service changes nothing. Deletions are tried only with such ids.
 */
export const WRITING_REFUSALS: readonly Case[] = [
  unknownCase("threads.delete", "thread_id", { details: [] }),
  unknownCase("meeting_sessions.delete_permanently", "session_id", { code: "SESSION_NOT_FOUND" }),
  unknownCase("meeting_sessions.stop", "session_id", { code: "SESSION_NOT_FOUND" }),
  unknownCase("share_links.revoke", "dashboard_id", { code: "DASHBOARD_NOT_FOUND" }),
  unknownCase("departments.reparent", "department_id", {
    known: OWN,
    body: { new_parent_id: null },
    ...ASSUMED_CODE,
  }),
  unknownCase("webhooks.update", "webhook_id", { body: { active: false }, ...ASSUMED_CODE }),
  unknownCase("webhooks.delete", "webhook_id", ASSUMED_CODE),
  unknownCase("webhooks.test", "webhook_id", ASSUMED_CODE),
  unknownCase("connector_jobs.cancel", "job_id", { known: OWN }),
  unknownCase("store_files.attach", "store_id", { known: OWN, body: { file_id: "file_nobody0" } }),
  invalidCase("webhooks.create", "url", { body: { ...HOOK, url: "nowhere" } }),
  invalidCase("webhooks.create", "events[0]", { body: { ...HOOK, events: ["nothing.happened"] } }),
  invalidCase("webhooks.create", "events", { body: { ...HOOK, events: [] } }),
  invalidCase("users.set_current_organization", "organization_id", { body: { organization_id: "nobody0" } }),
  invalidCase("connector_jobs.trigger", "job_type", {
    known: OWN,
    body: { connection_id: "conn_nobody0", job_type: "polish" },
  }),
  unknownCase("connector_jobs.trigger", "connection_id", {
    known: OWN,
    details: [],
    body: { connection_id: "conn_nobody0", job_type: "sync" },
    gap: "G14",
  }),
  invalidCase("connector_notifications.test", "notification_type", {
    known: OWN,
    body: { notification_type: "pigeon" },
  }),
  invalidCase("model_responses.create", "inputs", { body: { model: "nobody0", inputs: [] } }),
  invalidCase("model_responses.create", "inputs[0].files", {
    body: { model: "nobody0", inputs: [{ role: "user", content: "none", files: ELEVEN }] },
  }),
  invalidCase("model_responses.create", "model", {
    body: { model: "nobody0", inputs: [{ role: "user", content: "none" }] },
    gap: "G20",
  }),
  invalidCase("files.create_upload_url", "file_size", {
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
