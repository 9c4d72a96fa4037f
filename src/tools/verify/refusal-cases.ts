import type { ErrorCode } from "../../engine/contract/errors.ts";

/** A request that must be refused, and the refusal that is expected. */
export interface RefusalCase {
  operation: string;
  name: string;
  title: string;
  code: ErrorCode;
  /** Names of parameters, each with the name in `--use` of the object that it needs. */
  knownObjects?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  body?: object;
  /** Path parameters that the error's details repeat. */
  details?: readonly string[];
  /** Further details, with their values. */
  otherDetails?: Readonly<Record<string, unknown>>;
  /** The assumption that the whole case rests on. */
  assumption?: string | undefined;
  /** The assumption that only the code rests on. */
  codeAssumption?: string | undefined;
  /** The assumption that only the details rest on. */
  detailsAssumption?: string | undefined;
}

const ORGANIZATION_OF_KEY = { organization_id: "organization_id" };
/** A missing resource is 404. If the section shows no code and details, they are assumptions. */
const ASSUMED_CODE = { codeAssumption: "G27", detailsAssumption: "G27" };
const createUnknownCase = (
  operation: string,
  parameter: string,
  rest: Partial<RefusalCase> = {},
): RefusalCase => ({
  operation,
  name: "unknown",
  title: `unknown ${parameter} is 404`,
  code: "RESOURCE_NOT_FOUND",
  details: [parameter],
  ...rest,
});
const createUnknownOrganizationCase = (operation: string, body?: object): RefusalCase =>
  createUnknownCase(operation, "organization_id", {
    name: "unknown-organization",
    code: "ORGANIZATION_NOT_FOUND",
    assumption: "G03",
    body,
  });
const createForeignCase = (operation: string, rest: Partial<RefusalCase>): RefusalCase => ({
  operation,
  name: "foreign",
  title: "an object of another organization is 403",
  // Section 5 states the 403; the code is an assumption.
  code: "ORGANIZATION_ACCESS_DENIED",
  codeAssumption: "G03",
  detailsAssumption: "G03",
  knownObjects: { organization_id: "foreign_organization_id" },
  ...rest,
});

/** Refusals of reading operations; those of writing operations need `--write`. */
export const READING_REFUSALS: readonly RefusalCase[] = [
  createUnknownCase("meeting_sessions.export_transcript", "session_id", { code: "SESSION_NOT_FOUND" }),
  createForeignCase("meeting_sessions.export_transcript", {
    code: "SESSION_ACCESS_DENIED",
    knownObjects: { session_id: "foreign_session_id" },
    details: ["session_id"],
    codeAssumption: undefined,
  }),
  createUnknownCase("meeting_sessions.stream_status", "session_id", { code: "SESSION_NOT_FOUND" }),
  createUnknownCase("music_collections.list_tracks", "collection_id", { knownObjects: ORGANIZATION_OF_KEY }),
  createUnknownCase("music_collections.list_tracks", "collection_id", {
    name: "unknown-organization",
    title: "an unknown collection of an unknown organization is 404",
    assumption: "G03",
  }),
  createUnknownCase("assistants.list_history", "assistant_id"),
  createUnknownCase("store_files.retrieve_status", "file_id", {
    code: "FILE_NOT_IN_STORE",
    knownObjects: { ...ORGANIZATION_OF_KEY, store_id: "store_id" },
    details: ["file_id", "store_id"],
  }),
  createUnknownCase("store_files.retrieve_status", "store_id", {
    name: "unknown-store",
    code: "FILE_NOT_IN_STORE",
    knownObjects: ORGANIZATION_OF_KEY,
    details: ["file_id", "store_id"],
    assumption: "G12",
  }),
  createUnknownCase("usage.retrieve_limits", "org_id", { code: "ORGANIZATION_NOT_FOUND", details: [] }),
  createForeignCase("usage.retrieve_limits", {
    knownObjects: { org_id: "foreign_organization_id" },
    codeAssumption: undefined,
  }),
  {
    operation: "usage.retrieve_limits",
    name: "month",
    title: "a month out of range is 422 with field and value",
    code: "INVALID_INPUT",
    knownObjects: { org_id: "organization_id" },
    query: { month: "13" },
    otherDetails: { field: "month", value: 13 },
  },
  createUnknownCase("transcriptions.list_sentences", "transcription_id", ASSUMED_CODE),
  {
    operation: "transcriptions.list_sentences",
    name: "pending",
    title: "a transcription that is not completed is 422",
    code: "INVALID_INPUT",
    knownObjects: { transcription_id: "pending_transcription_id" },
    otherDetails: { field: "status" },
    assumption: "G17",
  },
  createUnknownCase("transcriptions.list_paragraphs", "transcription_id"),
  createUnknownCase("connector_jobs.retrieve", "job_id", { knownObjects: ORGANIZATION_OF_KEY }),
  createUnknownCase("webhooks.list_deliveries", "webhook_id", ASSUMED_CODE),
  createUnknownCase("share_links.resolve", "slug"),
  createUnknownOrganizationCase("audit_logs.export"),
  createUnknownOrganizationCase("connector_jobs.list"),
  createUnknownOrganizationCase("connector_notifications.retrieve"),
  createUnknownOrganizationCase("change_logs.list", {}),
  createForeignCase("audit_logs.export", {}),
  createForeignCase("connector_jobs.list", {}),
  createForeignCase("change_logs.list", { body: {} }),
];

const createInvalidCase = (operation: string, field: string, rest: Partial<RefusalCase>): RefusalCase => ({
  operation,
  name: `invalid-${field.replaceAll(/\W+/g, "-")}`,
  title: `${field} is refused with 422`,
  code: "INVALID_INPUT",
  otherDetails: { field },
  assumption: "G08",
  ...rest,
});
const HOOK = { url: "https://understudy-verify.invalid/hook", events: ["user.created"] };
/** One file more than a message may have (section 2.13). */
const ELEVEN_FILES = Array.from({ length: 11 }, () => ({ file_id: "file_nobody0" }));

/**
 * Writing calls that a service must refuse. They have ids of objects that do not exist, or impossible
 * values, so that a correct service changes nothing. Deletions are tried only with such ids.
 */
export const WRITING_REFUSALS: readonly RefusalCase[] = [
  createUnknownCase("threads.delete", "thread_id", { details: [] }),
  createUnknownCase("meeting_sessions.delete_permanently", "session_id", { code: "SESSION_NOT_FOUND" }),
  createUnknownCase("meeting_sessions.stop", "session_id", { code: "SESSION_NOT_FOUND" }),
  createUnknownCase("share_links.revoke", "dashboard_id", { code: "DASHBOARD_NOT_FOUND" }),
  createUnknownCase("departments.reparent", "department_id", {
    knownObjects: ORGANIZATION_OF_KEY,
    body: { new_parent_id: null },
    ...ASSUMED_CODE,
  }),
  createUnknownCase("webhooks.update", "webhook_id", { body: { active: false }, ...ASSUMED_CODE }),
  createUnknownCase("webhooks.delete", "webhook_id", ASSUMED_CODE),
  createUnknownCase("webhooks.test", "webhook_id", ASSUMED_CODE),
  createUnknownCase("connector_jobs.cancel", "job_id", { knownObjects: ORGANIZATION_OF_KEY }),
  createUnknownCase("store_files.attach", "store_id", {
    knownObjects: ORGANIZATION_OF_KEY,
    body: { file_id: "file_nobody0" },
  }),
  createInvalidCase("webhooks.create", "url", { body: { ...HOOK, url: "nowhere" } }),
  createInvalidCase("webhooks.create", "events[0]", { body: { ...HOOK, events: ["nothing.happened"] } }),
  createInvalidCase("webhooks.create", "events", { body: { ...HOOK, events: [] } }),
  createInvalidCase("users.set_current_organization", "organization_id", {
    body: { organization_id: "nobody0" },
  }),
  createInvalidCase("connector_jobs.trigger", "job_type", {
    knownObjects: ORGANIZATION_OF_KEY,
    body: { connection_id: "conn_nobody0", job_type: "polish" },
  }),
  createUnknownCase("connector_jobs.trigger", "connection_id", {
    knownObjects: ORGANIZATION_OF_KEY,
    details: [],
    body: { connection_id: "conn_nobody0", job_type: "sync" },
    assumption: "G14",
  }),
  createInvalidCase("connector_notifications.test", "notification_type", {
    knownObjects: ORGANIZATION_OF_KEY,
    body: { notification_type: "pigeon" },
  }),
  createInvalidCase("model_responses.create", "inputs", { body: { model: "nobody0", inputs: [] } }),
  createInvalidCase("model_responses.create", "inputs[0].files", {
    body: { model: "nobody0", inputs: [{ role: "user", content: "none", files: ELEVEN_FILES }] },
  }),
  createInvalidCase("model_responses.create", "model", {
    body: { model: "nobody0", inputs: [{ role: "user", content: "none" }] },
    assumption: "G20",
  }),
  createInvalidCase("files.create_upload_url", "file_size", {
    knownObjects: ORGANIZATION_OF_KEY,
    body: { filename: "a.txt", mime_type: "text/plain", file_size: -1 },
  }),
  {
    operation: "users.set_current_organization",
    name: "unknown",
    title: "an organization that is not the user's is 403",
    code: "INSUFFICIENT_PERMISSIONS",
    body: { organization_id: "org_nobody0" },
    assumption: "G03",
  },
];
