import type { FreshWorld, Sent } from "./fresh-world.ts";
import { makePng, makeTransparentPng } from "./pictures.ts";

/** A realistic request that reaches one documented success. */
export interface Recipe {
  status: number;
  /** Distinguishes recipes with the same status. */
  name?: string;
  request: (world: FreshWorld) => Sent | Promise<Sent>;
}

const ORG = { organization_id: "org_acme" };
const STANDUP = { session_id: "mbsess_standup" };
const SHORT = { transcription_id: "trans_short" };
/** No process listens there, so an attempt fails at once. */
const UNREACHABLE_URL = "http://127.0.0.1:9/hook";

const respondOk = (sent: Sent, name?: string): Recipe => ({ status: 200, name, request: () => sent });
const withStatus = (status: number, sent: Sent): Recipe => ({ status, request: () => sent });
const respondAfter = (status: number, request: Recipe["request"]): Recipe => ({ status, request });

/** Repeats a request with `If-None-Match` and the ETag of the first response. */
const respondUnchanged = (path: string): Recipe =>
  respondAfter(304, async (world) => {
    const first = await world.call(path, "GET", { who: "dan", params: SHORT });
    return { who: "dan", params: SHORT, headers: { "if-none-match": first.headers.get("etag")! } };
  });
/** Continues a live meeting that has ended after its last event. */
const resumeAfter = (last: string): Recipe =>
  withStatus(204, { who: "dan", params: STANDUP, headers: { "last-event-id": last } });
const TRANSCRIPTION = "/v1/audio/transcribe/{transcription_id}";

const uploadFile = async (world: FreshWorld): Promise<Sent> => {
  const { path, query, ...upload } = await world.upload(5);
  await world.api.call(undefined, "PUT", `${path}?${query}`, "hello", { "content-type": "text/plain" });
  return { who: "dan", params: ORG, body: upload };
};

const makeForm = (fields: Record<string, string | Blob>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
};

/**
 * Recipes by operation id: at least one for each documented success. The run fails for an operation without recipes.
 */
export const RECIPES: Readonly<Record<string, readonly Recipe[]>> = {
  "users.set_current_organization": [respondOk({ who: "ada", body: { organization_id: "org_initech" } })],
  "auth.create_token": [
    respondOk({ who: "dan" }),
    respondOk({ body: { api_key: "ak_adaOwnerAcme000000000000000000000000000" } }, "key in the body"),
  ],
  "auth.refresh_token": [
    respondAfter(200, async (world) => {
      const { body } = await world.call("/v1/auth/token", "POST", { who: "dan" });
      return { body: { refresh_token: body.refresh_token } };
    }),
  ],
  "departments.reparent": [
    respondOk({
      who: "ada",
      params: { ...ORG, department_id: "dept_ml" },
      body: { new_parent_id: "dept_ops" },
    }),
    respondOk(
      { who: "ben", params: { ...ORG, department_id: "dept_eng" }, body: { new_parent_id: null } },
      "to the top",
    ),
  ],
  "audit_logs.export": [
    respondOk({ who: "ada", params: ORG, query: "entity_type=department&from_date=2026-01-01" }),
  ],
  "connectors.list_auth_configs": [respondOk({ who: "ben" })],
  "music_collections.list_tracks": [
    respondOk({ who: "dan", params: { ...ORG, collection_id: "mcoll_focus" }, query: "limit=3&offset=447" }),
  ],
  "threads.delete": [respondOk({ who: "dan", params: { thread_id: "thread_long" } })],
  "assistants.list_history": [
    respondOk({ who: "dan", params: { assistant_id: "asst_helper" }, query: "action=updated&limit=100" }),
  ],
  "change_logs.list": [respondOk({ who: "ada", params: ORG, body: { take: 5, resource_type: "assistant" } })],
  "share_links.revoke": [
    withStatus(204, { who: "cleo", params: { dashboard_id: "dsh_revenue", link_id: "slink_board" } }),
  ],
  "share_links.resolve": [respondOk({ params: { slug: "revenue-board" } })],
  "usage.retrieve_limits": [
    respondOk({ who: "dan", params: { org_id: "org_acme" }, query: "month=3&year=2026" }),
  ],
  "models.list_for_organization": [
    respondAfter(200, async (world) => {
      await world.control("PATCH", "", { settings: { preview: "on" } });
      return { who: "dan", params: ORG };
    }),
  ],
  "models.list": [respondOk({ who: "dan" })],
  "models.list_v2": [respondOk({ who: "dan" })],
  "model_responses.create": [
    respondOk({
      who: "ada",
      body: {
        model: "atlas-large",
        inputs: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "What is in it?", files: [{ file_id: "file_policies" }] },
        ],
      },
    }),
    respondOk(
      { who: "ada", body: { model: "comet-mini", inputs: [{ role: "user", texts: [{ text: "Hello" }] }] } },
      "the shorter form",
    ),
  ],
  "meeting_sessions.export_transcript": ["txt", "srt", "json"].map((format) =>
    respondOk({ who: "dan", params: STANDUP, query: `format=${format}` }, format),
  ),
  "meeting_sessions.delete_permanently": [withStatus(204, { who: "cleo", params: STANDUP })],
  "meeting_sessions.stop": [respondOk({ who: "cleo", params: { session_id: "mbsess_live" } })],
  "meeting_sessions.stream_transcripts": [respondOk({ who: "dan", params: STANDUP }), resumeAfter("6")],
  "meeting_sessions.stream_status": [respondOk({ who: "dan", params: STANDUP }), resumeAfter("2")],
  "meeting_sessions.stream_logs": [
    respondOk({ who: "dan", params: STANDUP, headers: { "last-event-id": "1" } }),
    resumeAfter("5"),
  ],
  "transcriptions.list_sentences": [
    respondOk({ who: "dan", params: { transcription_id: "trans_interview" }, query: "limit=10&offset=20" }),
    respondOk({ who: "dan", params: { transcription_id: "trans_redacted" } }, "redacted"),
    respondUnchanged(`${TRANSCRIPTION}/sentences`),
  ],
  "transcriptions.list_paragraphs": [
    respondOk({ who: "dan", params: SHORT }),
    respondUnchanged(`${TRANSCRIPTION}/paragraphs`),
  ],
  "transcriptions.export_srt": [
    respondOk({ who: "dan", params: SHORT }),
    respondUnchanged(`${TRANSCRIPTION}/subtitles/srt`),
  ],
  "transcriptions.export_vtt": [
    respondOk({ who: "dan", params: SHORT }),
    respondUnchanged(`${TRANSCRIPTION}/subtitles/vtt`),
  ],
  "connector_jobs.list": [
    respondOk({ who: "dan", params: ORG, query: "job_type=sync&order_by=-duration&start_date=2026-03-01" }),
  ],
  "connector_jobs.retrieve": [respondOk({ who: "dan", params: { ...ORG, job_id: "job_sync_done" } })],
  "connector_jobs.trigger": [
    withStatus(201, { who: "dan", params: ORG, body: { connection_id: "conn_wiki", job_type: "sync" } }),
  ],
  "connector_jobs.cancel": [withStatus(204, { who: "dan", params: { ...ORG, job_id: "job_sync_running" } })],
  "connector_notifications.retrieve": [respondOk({ who: "dan", params: ORG })],
  "connector_notifications.update": [
    respondOk({
      who: "dan",
      params: ORG,
      body: {
        notifications: [
          { type: "webhook", url: UNREACHABLE_URL, events: ["connector.job.failed"] },
          { type: "email", email: "ops@acme.test", events: ["connector.job.succeeded", "file.processed"] },
        ],
      },
    }),
  ],
  "connector_notifications.test": [
    respondOk({ who: "dan", params: ORG, body: { notification_type: "email" } }, "e-mail"),
    respondOk(
      { who: "dan", params: ORG, body: { notification_type: "webhook", url: UNREACHABLE_URL } },
      "webhook",
    ),
  ],
  "webhooks.create": [
    withStatus(201, { who: "dan", body: { url: UNREACHABLE_URL, events: ["user.created"] } }),
  ],
  "webhooks.list": [respondOk({ who: "dan" })],
  "webhooks.update": [
    respondOk({
      who: "dan",
      params: { webhook_id: "wh_ops" },
      body: { events: ["thread.deleted"], active: true },
    }),
  ],
  "webhooks.delete": [respondOk({ who: "dan", params: { webhook_id: "wh_ops" } })],
  "webhooks.test": [respondOk({ who: "dan", params: { webhook_id: "wh_ops" } })],
  "webhooks.list_deliveries": [respondOk({ who: "dan", params: { webhook_id: "wh_ops" } })],
  "webhooks.redeliver": [
    respondOk({ who: "dan", params: { webhook_id: "wh_ops", delivery_id: "del_failed" } }),
  ],
  "files.create_upload_url": [
    respondOk({
      who: "dan",
      params: ORG,
      body: { filename: "a.pdf", file_size: 10, mime_type: "application/pdf" },
    }),
  ],
  "files.register": [
    respondAfter(201, uploadFile),
    respondAfter(200, async (world) => {
      const sent = await uploadFile(world);
      await world.call("/v1/organizations/{organization_id}/files", "POST", sent);
      return sent;
    }),
  ],
  "files.upload": [
    respondAfter(201, () => ({
      who: "dan",
      params: ORG,
      body: makeForm({ file: new File(["# Notes"], "notes.md", { type: "text/markdown" }) }),
    })),
  ],
  "uploads.put": [
    respondAfter(200, async (world) => {
      const { query } = await world.upload(5);
      return { params: { bucket: "uploads" }, query, body: "hello" };
    }),
    respondAfter(308, async (world) => {
      const { query } = await world.upload(10);
      const headers = { "content-range": "bytes 0-4/10" };
      return { params: { bucket: "uploads" }, query, body: "hello", headers };
    }),
  ],
  "uploads.cancel": [
    respondAfter(499, async (world) => {
      const { query } = await world.upload(5);
      return { params: { bucket: "uploads" }, query };
    }),
  ],
  "store_files.retrieve_status": ["file_handbook", "file_policies", "file_broken"].map((file_id) =>
    respondOk({ who: "dan", params: { ...ORG, store_id: "vs_handbook", file_id } }, file_id),
  ),
  "store_files.attach": [
    withStatus(202, {
      who: "dan",
      params: { ...ORG, store_id: "vs_empty" },
      body: { file_id: "file_loose" },
    }),
    respondOk({
      who: "dan",
      params: { ...ORG, store_id: "vs_handbook" },
      body: { file_id: "file_handbook" },
    }),
  ],
  "images.uncrop": [
    respondAfter(200, async () => ({
      who: "dan",
      body: makeForm({
        provider: "provider_a",
        organization_id: "org_acme",
        extend_left: "4",
        seed: "7",
        image_file: await makePng("picture.png"),
      }),
    })),
    {
      status: 200,
      name: "provider_b",
      request: async () => ({
        who: "dan",
        body: makeForm({
          provider: "provider_b",
          organization_id: "org_acme",
          image_file: await makePng("picture.png"),
          mask_file: await makeTransparentPng("mask.png"),
        }),
      }),
    },
  ],
};
