import { type Caller, KEYS } from "../harness.ts";

/** Values from earlier responses, which later requests use. */
export interface Memory {
  uploads: { path: string; gcs_path: string }[];
  refresh_tokens: string[];
  access_tokens: string[];
  webhooks: string[];
  files: string[];
  jobs: string[];
}

export const createMemory = (): Memory => ({
  uploads: [],
  refresh_tokens: [],
  access_tokens: [],
  webhooks: [],
  files: [],
  jobs: [],
});

export interface Mixed {
  method: string;
  /** Path of the emulated API; `/S/...` is the sandbox's control path. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Remember = (memory: Memory, body: any) => void;

export interface Template {
  make: (memory: Memory, draw: (below: number) => number) => Mixed;
  remember?: Remember;
}

const EVERYONE = Object.keys(KEYS) as Caller[];
const DEPARTMENTS = ["dept_acme", "dept_eng", "dept_platform", "dept_infra", "dept_ml", "dept_ops"];
const ACME = "/v1/organizations/org_acme";
const JSON_TYPE = { "content-type": "application/json" };

const as = (who: Caller) => ({ "api-key": KEYS[who] });
const get = (who: Caller, path: string, headers: Record<string, string> = {}): Template => ({
  make: () => ({ method: "GET", path, headers: { ...as(who), ...headers } }),
});
const send = (who: Caller | undefined, method: string, path: string, body?: object): Template => ({
  make: () => ({
    method,
    path,
    headers: { ...(who ? as(who) : {}), ...(body ? JSON_TYPE : {}) },
    body: body && JSON.stringify(body),
  }),
});
const control = (method: string, path: string, body?: object): Template =>
  send(undefined, method, `/S${path}`, method === "GET" ? undefined : (body ?? {}));
const takeLast = <T>(list: readonly T[], fallback: T): T => list.at(-1) ?? fallback;

const uploading: Template = {
  ...send("dan", "POST", `${ACME}/files/upload-url`, {
    filename: "notes.txt",
    file_size: 12,
    mime_type: "text/plain",
  }),
  remember(memory, { upload_url, gcs_path }) {
    const { pathname, search } = new URL(upload_url);
    memory.uploads.push({ path: pathname.replace(/^\/_s\/[^/]+/, "") + search, gcs_path });
  },
};

const form = [
  "--edge",
  'Content-Disposition: form-data; name="file"; filename="plan.md"',
  "Content-Type: text/markdown",
  "",
  "# Plan\n\nThe launch is on a Tuesday.",
  "--edge--",
  "",
].join("\r\n");

/** Requests to all resources: reads, writes, refusals, state calls and clock calls. */
export const TEMPLATES: readonly Template[] = [
  {
    make: (_memory, draw) => ({
      method: "POST",
      path: `${ACME}/departments/${DEPARTMENTS[draw(6)]}/reparent`,
      headers: { ...as(EVERYONE[draw(EVERYONE.length)]!), ...JSON_TYPE },
      body: JSON.stringify({ new_parent_id: [...DEPARTMENTS, null][draw(7)] }),
    }),
  },
  send("ada", "POST", `${ACME}/departments/dept_nowhere/reparent`, { new_parent_id: null }),
  get("dan", "/v1/music/org_acme/collections/mcoll_focus/tracks?limit=7&offset=3"),
  send("ada", "PUT", "/v1/user/current-organization", { organization_id: "org_initech" }),
  send("ada", "PUT", "/v1/user/current-organization", { organization_id: "org_acme" }),
  send("dan", "DELETE", "/v1/threads/thread_welcome"),
  get("dan", "/v1/assistants/asst_helper/history?limit=20"),
  get("dan", "/v1/assistants/asst_helper/history?limit=0"),
  get("ben", "/v1/admin/connector/auth-configs"),
  send("cleo", "DELETE", "/v1/dashboards/dsh_revenue/share-links/slink_board"),
  { make: () => ({ method: "GET", path: "/v1/dashboards/shared/revenue-partner", headers: {} }) },
  get("ada", `${ACME}/audit-log/export?from_date=2026-03-01`),
  send("ada", "POST", `${ACME}/dashboard/change-logs`, { take: 9 }),
  get("dan", "/v1/analytics/usage/limits/org_acme"),
  get("dan", "/v1/models"),
  get("dan", `${ACME}/models`),
  {
    make: (_memory, draw) => ({
      method: "POST",
      path: "/v1/model/response",
      headers: { ...as("ben"), ...JSON_TYPE },
      body: JSON.stringify({
        model: ["atlas-large", "comet-mini", "dune-legacy"][draw(3)],
        inputs: [{ role: "user", content: `Question ${draw(50)}`, files: [{ file_id: "file_policies" }] }],
      }),
    }),
  },
  {
    ...send("dan", "POST", "/v1/auth/token"),
    remember(memory, { refresh_token, access_token }) {
      memory.refresh_tokens.push(refresh_token);
      memory.access_tokens.push(access_token);
    },
  },
  {
    make: (memory) => ({
      method: "POST",
      path: "/v1/auth/refresh",
      headers: JSON_TYPE,
      body: JSON.stringify({ refresh_token: memory.refresh_tokens.shift() ?? "none" }),
    }),
  },
  {
    make: (memory) => ({
      method: "GET",
      path: "/v1/models",
      headers: { authorization: `Bearer ${takeLast(memory.access_tokens, "none")}` },
    }),
  },
  uploading,
  {
    make: (memory) => ({
      method: "PUT",
      path: takeLast(memory.uploads, { path: "/upload/storage/v1/b/uploads/o?upload_id=none", gcs_path: "" })
        .path,
      headers: { "content-type": "text/plain" },
      body: "twelve bytes",
    }),
  },
  {
    make: (memory) => ({
      method: "POST",
      path: `${ACME}/files`,
      headers: { ...as("dan"), ...JSON_TYPE },
      body: JSON.stringify({
        filename: "notes.txt",
        file_size: 12,
        mime_type: "text/plain",
        gcs_path: takeLast(memory.uploads, { path: "", gcs_path: "none" }).gcs_path,
      }),
    }),
    remember: (memory, { id }) => void memory.files.push(id),
  },
  {
    make: () => ({
      method: "POST",
      path: `${ACME}/files/upload`,
      headers: { ...as("dan"), "content-type": "multipart/form-data; boundary=edge" },
      body: form,
    }),
    remember: (memory, { id }) => void memory.files.push(id),
  },
  {
    make: (memory) => ({
      method: "POST",
      path: `${ACME}/stores/vs_empty/files`,
      headers: { ...as("dan"), ...JSON_TYPE },
      body: JSON.stringify({ file_id: takeLast(memory.files, "file_loose") }),
    }),
  },
  get("dan", `${ACME}/stores/vs_handbook/files/file_policies/status`),
  {
    ...send("dan", "POST", `${ACME}/knowledge/connectors/jobs`, {
      connection_id: "conn_wiki",
      job_type: "sync",
    }),
    remember: (memory, { job_id }) => void memory.jobs.push(job_id),
  },
  get("dan", `${ACME}/knowledge/connectors/jobs?order_by=-duration`),
  {
    make: (memory) => ({
      method: "POST",
      path: `${ACME}/knowledge/connectors/jobs/${takeLast(memory.jobs, "job_sync_done")}/cancel`,
      headers: as("dan"),
    }),
  },
  send("dan", "PATCH", `${ACME}/knowledge/connectors/notifications`, {
    notifications: [{ type: "email", email: "ops@acme.test", events: ["connector.job.succeeded"] }],
  }),
  get("dan", "/v1/audio/transcribe/trans_short/sentences"),
  get("dan", "/v1/audio/transcribe/trans_redacted/subtitles/srt"),
  get("dan", "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export?format=json"),
  get("dan", "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/stream"),
  send("cleo", "POST", "/v1/meeting-buddy/sessions/mbsess_live/stop"),
  {
    ...send("dan", "POST", "/webhooks", {
      url: "http://127.0.0.1:9/hook",
      events: ["file.processed", "thread.created"],
    }),
    remember: (memory, { data }) => void memory.webhooks.push(data.webhook_id),
  },
  {
    make: (memory) => ({
      method: "POST",
      path: `/webhooks/${takeLast(memory.webhooks, "wh_ops")}/test`,
      headers: as("dan"),
    }),
  },
  {
    make: (memory) => ({
      method: "GET",
      path: `/webhooks/${takeLast(memory.webhooks, "wh_ops")}/deliveries`,
      headers: as("dan"),
    }),
  },
  get("finn", "/v1/models"),
  send("dan", "POST", "/v1/model/response", { inputs: 7 }),
  { make: () => ({ method: "POST", path: "/v1/auth/token", headers: JSON_TYPE, body: "{" }) },
  send("dan", "PATCH", "/v1/nowhere", {}),
  control("POST", "/clock/advance", { by: "37s" }),
  control("POST", "/clock/advance", { by: "PT20M" }),
  control("GET", "/clock/pending"),
  control("GET", "/state/departments?limit=5"),
  control("POST", "/state/users", { memberships: { org_acme: "member" } }),
  control("POST", "/state/threads", { owner_id: "usr_dan" }),
  control("POST", "/state/departments?actor=usr_ben", { parent_id: "dept_ops" }),
  control("PATCH", "/state/departments/dept_ops", { member_count: 8 }),
  control("POST", "/state/departments", { parent_id: "dept_nowhere" }),
  control("GET", "/state/audit_logs?limit=3"),
  control("POST", "/events", { event: "user.created", for: "usr_dan" }),
  control("GET", "/outbox"),
];
