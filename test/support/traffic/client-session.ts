import { setTimeout as wait } from "node:timers/promises";
import { KEYS } from "../harness.ts";

const ORG = "/v1/organizations/org_acme";
const JOBS = `${ORG}/knowledge/connectors/jobs`;

export type Step = readonly [method: string, path: string, body?: unknown, key?: string | null];

/** Requests of an application and its users in an hour, including mistakes. None is made for testing. */
const STEPS: readonly Step[] = [
  ["GET", "/v1/models"],
  ["GET", "/v2/models"],
  ["GET", `${ORG}/models`],
  ["PUT", "/v1/user/current-organization", { organization_id: "org_acme" }],
  ["PUT", "/v1/user/current-organization", { organization_id: "org_globex" }],
  ["GET", "/v1/analytics/usage/limits/org_acme"],
  ["GET", "/v1/analytics/usage/limits/org_acme?month=2&year=2026"],
  ["GET", "/v1/analytics/usage/limits/org_acme?month=13"],
  ["GET", "/v1/analytics/usage/limits/org_globex"],
  ["GET", "/v1/analytics/usage/limits/org_gone"],
  ["GET", "/v1/analytics/usage/limits/org_acme", undefined, null],
  ["POST", `${ORG}/departments/dept_ops/reparent`, { new_parent_id: "dept_eng" }],
  ["POST", `${ORG}/departments/dept_eng/reparent`, { new_parent_id: "dept_ops" }],
  ["POST", `${ORG}/departments/dept_ops/reparent`, { new_parent_id: null }],
  ["POST", `${ORG}/departments/dept_gone/reparent`, { new_parent_id: null }],
  ["GET", "/v1/music/org_acme/collections/mcoll_ada/tracks"],
  ["GET", "/v1/music/org_acme/collections/mcoll_focus/tracks?limit=20&offset=40", undefined, KEYS.dan],
  ["GET", "/v1/music/org_acme/collections/mcoll_focus/tracks", undefined, KEYS.dan],
  ["GET", "/v1/music/org_acme/collections/mcoll_gone/tracks"],
  ["GET", "/v1/assistants/asst_helper/history"],
  ["GET", "/v1/assistants/asst_helper/history?limit=10&offset=10"],
  ["GET", "/v1/assistants/asst_helper/history?action=updated&limit=5"],
  ["GET", "/v1/assistants/asst_gone/history"],
  ["GET", "/v1/assistants/asst_helper/history", undefined, null],
  ["GET", `${ORG}/stores/vs_handbook/files/file_handbook/status`],
  ["GET", `${ORG}/stores/vs_handbook/files/file_policies/status`],
  ["GET", `${ORG}/stores/vs_handbook/files/file_loose/status`],
  ["GET", "/v1/admin/connector/auth-configs"],
  ["GET", "/v1/audio/transcribe/trans_short/sentences"],
  ["GET", "/v1/audio/transcribe/trans_interview/sentences?limit=50&offset=100"],
  ["GET", "/v1/audio/transcribe/trans_redacted/sentences"],
  ["GET", "/v1/audio/transcribe/trans_pending/sentences"],
  ["GET", "/v1/audio/transcribe/trans_gone/sentences"],
  ["GET", "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export"],
  ["GET", "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export?format=srt"],
  ["GET", "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export?format=json"],
  ["GET", "/v1/meeting-buddy/sessions/mbsess_gone/transcripts/export"],
  ["GET", "/v1/meeting-buddy/sessions/mbsess_secret/transcripts/export"],
  ["GET", JOBS],
  ["GET", `${JOBS}?job_type=sync&limit=1`],
  ["GET", `${JOBS}/job_sync_done`],
  ["GET", `${ORG}/knowledge/connectors/notifications`],
  ["GET", `${ORG}/audit-log/export?entity_type=department`],
  ["GET", `${ORG}/audit-log/export`, undefined, KEYS.dan],
  ["POST", `${ORG}/dashboard/change-logs`, { take: 20, skip: 20 }],
  ["POST", `${ORG}/dashboard/change-logs`, { resource_type: "assistant", action: "updated" }],
  ["POST", `${ORG}/dashboard/change-logs`, { take: 500 }],
  ["DELETE", "/v1/threads/thread_ada"],
  ["DELETE", "/v1/threads/thread_ada"],
  ["DELETE", "/v1/dashboards/dsh_revenue/share-links/slink_board"],
  ["DELETE", "/v1/dashboards/dsh_gone/share-links/slink_board"],
  ["GET", "/v1/dashboards/shared/revenue-partner", undefined, null],
  ["POST", "/webhooks", { url: "http://127.0.0.1:9/x", events: ["user.created"], active: false }],
  ["GET", "/webhooks"],
  ["GET", "/webhooks/wh_ops/deliveries"],
  ["POST", "/v1/model/response", { model: "comet-mini", inputs: [{ role: "user", content: "Hello" }] }],
  ["POST", "/v1/model/response", { model: "none", inputs: [{ role: "user", content: "Hello" }] }],
  ["POST", "/v1/auth/token", {}],
  ["POST", "/v1/auth/token", { api_key: "ak_wrong" }, null],
  ["POST", `${ORG}/files/upload-url`, { filename: "a.txt", file_size: 3, mime_type: "text/plain" }],
];

/** Sends the requests to a base URL, as Ada unless a step has another key. */
export async function playSession(base: string, steps: readonly Step[] = STEPS): Promise<void> {
  for (const [method, path, body, key = KEYS.ada] of steps) {
    const isForm = body instanceof FormData;
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(key === null ? {} : { "api-key": key }),
        ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    // Recordings have whole milliseconds: without a pause, the order of two requests is unknown.
    await wait(2);
  }
}
