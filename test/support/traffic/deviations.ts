import { KEYS } from "../harness.ts";
import type { ProxiedRequest } from "../verify-setup.ts";
import {
  type Alteration,
  alterAt,
  alterBody,
  alterStatus,
  alterText,
  type Body,
  set,
  without,
} from "./alterations.ts";
import { playSession, type Step } from "./client-session.ts";

const ORG = "/v1/organizations/org_acme";
const JOBS = `${ORG}/knowledge/connectors/jobs`;
const HOOK = { url: "http://127.0.0.1:9/x", events: ["user.created"], active: false };
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAMAAAAoLQ9TAAAAA1BMVEUzZpk7I4HSAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADUlEQVQY02NgGAXIAAABEAAB7JfjegAAAABJRU5ErkJggg==";

function uncrop(): FormData {
  const form = new FormData();
  const fields = { provider: "provider_a", organization_id: "org_acme", extend_left: "8", seed: "7" };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("image_file", new File([Buffer.from(PNG, "base64")], "a.png", { type: "image/png" }));
  return form;
}

/** Requests of an application, including its users' mistakes. */
const JOURNEY: readonly Step[] = [
  ["GET", "/v1/models"],
  ["GET", "/v1/models", undefined, null],
  ["GET", "/v1/music/org_acme/collections/mcoll_focus/tracks", undefined, KEYS.dan],
  ["GET", "/v1/music/org_acme/collections/mcoll_focus/tracks?limit=20&offset=40", undefined, KEYS.dan],
  ["GET", "/v1/assistants/asst_helper/history"],
  ["GET", "/v1/assistants/asst_helper/history?limit=10"],
  ["GET", "/v1/assistants/asst_helper/history?limit=10&offset=10"],
  ["GET", "/v1/assistants/asst_helper/history?user_id=usr_cleo"],
  ["GET", "/v1/assistants/asst_gone/history"],
  ["GET", "/v1/audio/transcribe/trans_interview/sentences"],
  ["GET", "/v1/audio/transcribe/trans_interview/sentences?limit=10"],
  ["GET", "/v1/audio/transcribe/trans_interview/sentences?limit=10&offset=10"],
  ["GET", "/v1/analytics/usage/limits/org_acme"],
  ["GET", "/v1/analytics/usage/limits/org_globex"],
  ["GET", `${ORG}/audit-log/export?from_date=2026-03-10`],
  ["GET", "/v1/organizations/org_globex/audit-log/export"],
  ["POST", `${ORG}/dashboard/change-logs`, { take: 5 }],
  ["POST", `${ORG}/dashboard/change-logs`, { end_date: "2026-03-01" }],
  ["POST", `${ORG}/dashboard/change-logs`, { take: 500 }],
  ["GET", `${ORG}/stores/vs_handbook/files/file_handbook/status`],
  ["GET", JOBS],
  ["GET", `${JOBS}?order_by=duration`],
  ["GET", `${JOBS}/job_sync_done`],
  ["GET", `${JOBS}/job_gone`],
  ["POST", `${JOBS}/job_sync_running/cancel`],
  ["POST", `${ORG}/departments/dept_ops/reparent`, { new_parent_id: "dept_eng" }],
  ["GET", "/v1/meeting-buddy/sessions/mbsess_standup/status/stream"],
  ["GET", "/v1/meeting-buddy/sessions/mbsess_standup/transcripts/export?format=json"],
  ["POST", "/webhooks", HOOK],
  ["GET", "/webhooks"],
  ["PUT", "/webhooks/wh_ops", { url: "http://127.0.0.1:9/new", active: false }],
  ["GET", "/webhooks"],
  ["GET", "/webhooks/wh_ops/deliveries"],
  ["DELETE", "/webhooks/wh_ops"],
  ["GET", "/webhooks"],
  ["DELETE", "/v1/dashboards/dsh_revenue/share-links/slink_board"],
  ["DELETE", "/v1/threads/thread_ada"],
  ["DELETE", "/v1/threads/thread_ada"],
  ["POST", "/v1/model/response", { model: "comet-mini", inputs: [{ role: "user", content: "Hello" }] }],
  ["POST", "/v1/images/uncrop", uncrop()],
  ["POST", `${ORG}/files/upload-url`, { filename: "a.txt", file_size: 3, mime_type: "text/plain" }],
];

/** Requests of other users of the same service, some repeated. */
const MORE: readonly Step[] = [
  ["GET", `${ORG}/models`],
  ["GET", "/v1/admin/connector/auth-configs"],
  ["GET", "/v1/music/org_acme/collections/mcoll_focus/tracks?limit=500", undefined, KEYS.dan],
  ["POST", `${ORG}/dashboard/change-logs`, { take: 100 }],
  ["GET", "/v1/audio/transcribe/trans_interview/sentences?limit=1000"],
  ["GET", "/v1/audio/transcribe/trans_interview/sentences?offset=10"],
  ["GET", "/v1/analytics/usage/limits/org_acme?month=12&year=2025"],
  ["GET", `${ORG}/stores/vs_handbook/files/file_policies/status`],
  ["GET", `${ORG}/audit-log/export?action_type=created`],
  ["POST", "/webhooks", { ...HOOK, description: "one of two" }],
  ["GET", "/webhooks"],
  ["POST", `${JOBS}/job_sync_running/cancel`],
  ["GET", `${JOBS}/job_sync_running`],
  ["GET", "/webhooks/wh_ops/deliveries"],
  ["DELETE", "/v1/dashboards/dsh_revenue/share-links/slink_board"],
  ["DELETE", "/v1/dashboards/dsh_revenue/share-links/slink_board"],
];

export async function playJourney(base: string): Promise<void> {
  await playSession(base, MORE);
  await playSession(base, JOURNEY);
}

export interface Deviation extends Alteration {
  /**
   * Whether the deviation contradicts the reference, so that the check fails; otherwise it differs from an
   * assumption.
   */
  specified: boolean;
}

const alterPath =
  (from: string | RegExp, to: string): NonNullable<Alteration["ask"]> =>
  (request) => ({ ...request, path: request.path.replace(from, to) });

const alterSentBody =
  (path: RegExp, change: (sent: Body) => Body): NonNullable<Alteration["ask"]> =>
  (request) => {
    if (!path.test(request.path) || request.body === "") return request;
    try {
      return correctLength({ ...request, body: JSON.stringify(change(JSON.parse(request.body))) });
    } catch {
      return request;
    }
  };

const correctLength = ({ headers, ...request }: ProxiedRequest): ProxiedRequest => ({
  ...request,
  headers: { ...headers, "content-length": String(Buffer.byteLength(request.body)) },
});

const alterType = (type: string) =>
  alterBody(({ error, ...json }) => ({ ...json, error: { ...error, type } }));

const CHANGE_LOGS = /\/change-logs/;
const HISTORY = /\/history/;
const SENTENCES = /\/sentences/;
const TRACKS = /\/tracks/;
const WEBHOOKS = /\/webhooks$/;
const alterEach = (name: string, change: (one: Body) => Body) =>
  alterBody((json) => ({ ...json, [name]: json[name].map(change) }));

const DELIVERIES = /\/deliveries$/;
const MODELS = [2, 1].map((order) => ({
  ...{ id: `model_${order}`, title: `Model ${order}`, description: null, key: `model-${order}` },
  ...{ external: "external", provider: "vendor_a", is_active: true, is_visible_in_ui: true, order },
  ...{ max_tokens: null, cost_per_1k_tokens: null },
}));
/** Gives failed deliveries a retry this long after the last attempt. */
const alterRetry = (milliseconds: number) => (all: string) =>
  all.replaceAll(
    /"last_attempt":"([^"]+)","next_retry":[^,}]+/g,
    (_all, last) =>
      `"last_attempt":"${last}","next_retry":"${new Date(Date.parse(last) + milliseconds).toISOString()}"`,
  );

/** More than sixty deviations, each of an otherwise correct service. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    title: "a page of the maximum of 500 tracks, refused [4.4]",
    live: "music_collections.list_tracks/pages",
    har: "music_collections.list_tracks/malformed",
    specified: true,
    ask: alterPath(/tracks(.*)limit=500/, "tracks$1limit=501"),
  },
  {
    title: "a page of the maximum of 100 change logs, refused [4.16]",
    live: "change_logs.list/pages",
    har: "change_logs.list/malformed",
    specified: true,
    ask: alterSentBody(CHANGE_LOGS, (sent) => (sent["take"] === 100 ? { ...sent, take: 101 } : sent)),
  },
  {
    title: "the month 12, refused [4.17]",
    live: "usage.retrieve_limits/figures",
    har: "usage.retrieve_limits/malformed",
    specified: true,
    ask: alterPath(/month=12/, "month=13"),
  },
  {
    title: "positions that count from zero on each page [2.3]",
    live: "music_collections.list_tracks/pages",
    har: "music_collections.list_tracks/order",
    specified: true,
    answer: alterAt(
      TRACKS,
      200,
      alterBody((json) => ({
        ...json,
        items: json["items"].map((one: Body, i: number) => ({ ...one, position: i })),
      })),
    ),
  },
  {
    title: "a total that is not the number of auth configs [4.10]",
    live: "connectors.list_auth_configs/total",
    har: "connectors.list_auth_configs/total",
    specified: true,
    answer: alterAt(
      /\/auth-configs/,
      200,
      alterBody((json) => ({ ...json, total: json["total"] + 1 })),
    ),
  },
  {
    title: "an organization's models in reversed order [4.18]",
    live: "models.list_for_organization/order",
    har: "models.list_for_organization/order",
    specified: true,
    answer: alterAt(/org_acme\/models/, 404, (answer) => ({
      ...answer,
      status: 200,
      body: JSON.stringify({ organization_id: "org_acme", models: MODELS, total_count: MODELS.length }),
    })),
  },
  {
    title: "an action_type that filters nothing [4.15]",
    live: "audit_logs.export/csv",
    har: "audit_logs.export/csv",
    specified: true,
    ask: alterPath(/action_type=[^&]+/, ""),
  },
  {
    title: "an actor_id that filters nothing [4.15]",
    live: "audit_logs.export/csv",
    har: null,
    specified: true,
    ask: alterPath(/actor_id=usr_[^&]+/, ""),
  },
  {
    title: "an offset that is ignored without a limit [4.11]",
    live: "transcriptions.list_sentences/counts",
    har: "transcriptions.list_sentences/pages",
    specified: true,
    ask: (request) =>
      SENTENCES.test(request.path) && !request.path.includes("limit=")
        ? { ...request, path: request.path.replace(/offset=\d+/, "") }
        : request,
  },
  {
    title: "links of sentences that lead to another transcription [G17]",
    live: "transcriptions.list_sentences/counts",
    har: "transcriptions.list_sentences/counts",
    specified: false,
    answer: alterAt(
      SENTENCES,
      200,
      alterText((all) => all.replaceAll(/trans_\w+\/paragraphs/g, "trans_other/paragraphs")),
    ),
  },
  {
    title: "a service-api-version in the thirteenth month [9]",
    live: "headers/service-api-version",
    har: "headers/service-api-version",
    specified: true,
    answer: set("service-api-version", "2026-13-45"),
  },
  {
    title: "two families of rate headers that disagree [G07]",
    live: "headers/rate-limit",
    har: "headers/rate-limit",
    specified: false,
    answer: set("x-ratelimit-limit-requests", "7"),
  },
  {
    title: "X-RateLimit-Remaining that grows [8]",
    live: "headers/rate-limit",
    har: null,
    specified: true,
    answer: (answer, request) => {
      const remaining = String(1000 - Number(answer.headers["x-ratelimit-remaining"]));
      const grown = set("x-ratelimit-remaining", remaining)(answer, request);
      return set("x-ratelimit-remaining-requests", remaining)(grown, request);
    },
  },
  {
    title: "deliveries of no attempt [6.4]",
    live: "webhooks.list_deliveries/outcomes",
    har: "webhooks.list_deliveries/outcomes",
    specified: true,
    answer: alterAt(
      DELIVERIES,
      200,
      alterText((all) => all.replaceAll(/"attempts":\d+/g, '"attempts":0')),
    ),
  },
  {
    title: "a retry before the last attempt [2.12]",
    live: "webhooks.list_deliveries/times",
    har: "webhooks.list_deliveries/times",
    specified: true,
    answer: alterAt(DELIVERIES, 200, alterText(alterRetry(-60_000))),
  },
  {
    title: "a retry a day after the last attempt [6.4]",
    live: "webhooks.list_deliveries/times",
    har: "webhooks.list_deliveries/times",
    specified: true,
    answer: alterAt(DELIVERIES, 200, alterText(alterRetry(86_400_000))),
  },
  {
    title: "a created webhook that is listed without its description [4.21]",
    live: "webhooks/lifecycle",
    har: "webhooks.create/sticks",
    specified: true,
    write: true,
    answer: (answer, request) =>
      request.method === "GET" && WEBHOOKS.test(request.path)
        ? { ...answer, body: answer.body.replaceAll(/"description":"[^"]*"/g, '"description":""') }
        : answer,
  },
  {
    title: "a cancelled job that runs on [G14]",
    live: "connector_jobs/trigger-and-cancel",
    har: "connector_jobs.cancel/sticks",
    specified: false,
    write: true,
    answer: alterAt(
      /\/jobs\/job_\w+$/,
      200,
      alterBody((json) => ({ ...json, status: "running" })),
    ),
  },
  {
    title: "a file in processing that is completed [G11]",
    live: "store_files.retrieve_status/progress",
    har: "store_files.retrieve_status/progress",
    specified: false,
    answer: alterAt(
      /\/files\/[^/]+\/status/,
      200,
      alterBody((json) => ({
        ...json,
        ...{ status: "processing", progress_percent: 50, current_step: "embedding" },
        completed_at: "2026-03-15T12:00:00.000Z",
      })),
    ),
  },
  {
    title: "a history of another assistant [4.8]",
    live: "assistants.list_history/filters",
    har: "assistants.list_history/filters",
    specified: true,
    answer: alterAt(
      HISTORY,
      200,
      alterEach("audit_logs", (one) => ({ ...one, resource_id: "asst_other" })),
    ),
  },
  {
    title: "PNG bytes as image/jpeg [4.20]",
    live: "images.uncrop/small",
    har: "images.uncrop/small",
    specified: true,
    write: true,
    answer: alterAt(/\/uncrop/, 200, (answer) => ({
      ...answer,
      body: `\x89PNG\r\n\x1a\n${answer.body.slice(8)}`,
    })),
  },
  {
    title: "tracks without added_at [2.3]",
    live: "music_collections.list_tracks/answer",
    har: "music_collections.list_tracks/answer",
    specified: true,
    answer: alterAt(
      TRACKS,
      200,
      alterEach("items", ({ added_at: _, ...one }) => one),
    ),
  },
  {
    title: "timestamps of tracks with an offset [conventions]",
    live: "music_collections.list_tracks/answer",
    har: "music_collections.list_tracks/answer",
    specified: true,
    answer: alterAt(
      TRACKS,
      200,
      alterEach("items", (one) => ({ ...one, added_at: one["added_at"].replace("Z", "+02:00") })),
    ),
  },
  {
    title: "timestamps of errors as HTTP writes dates [7.1]",
    live: "connector_jobs.retrieve/unknown",
    har: "connector_jobs.retrieve/refusals",
    specified: true,
    answer: alterAt(
      /\/jobs\/\w/,
      404,
      alterBody(({ error, ...json }) => ({
        ...json,
        error: { ...error, timestamp: new Date(error.timestamp).toUTCString() },
      })),
    ),
  },
  {
    title: "an audit log's timestamps with a blank in place of T [2.6]",
    live: "audit_logs.export/csv",
    har: "audit_logs.export/csv",
    specified: true,
    answer: alterAt(
      /\/audit-log\/export/,
      200,
      alterText((csv) => csv.replaceAll(/^(\d{4}-\d{2}-\d{2})T([\d:.]+)Z/gm, "$1 $2")),
    ),
  },
  {
    title: "a history's total that ends with the page [4.8]",
    live: "assistants.list_history/pages",
    har: null,
    specified: true,
    answer: alterAt(
      HISTORY,
      200,
      alterBody(({ pagination, ...json }) => {
        const end = pagination.offset + json["audit_logs"].length;
        return { ...json, pagination: { ...pagination, total: end, has_more: false } };
      }),
    ),
  },
  {
    title: "monthly limits as texts [2.7]",
    live: "usage.retrieve_limits/answer",
    har: "usage.retrieve_limits/answer",
    specified: true,
    answer: alterAt(
      /\/usage\/limits/,
      200,
      alterText((all) => all.replace(/"monthly_limit":([\d.]+)/g, '"monthly_limit":"$1"')),
    ),
  },
  {
    title: "deliveries that succeeded with 500 [3.3]",
    live: "webhooks.list_deliveries/outcomes",
    har: "webhooks.list_deliveries/outcomes",
    specified: true,
    answer: alterAt(
      /\/deliveries$/,
      200,
      alterText((all) =>
        all.replaceAll('"status":"success","response_code":200', '"status":"success","response_code":500'),
      ),
    ),
  },
  {
    title: "failed deliveries without next_retry [G24]",
    live: "webhooks.list_deliveries/times",
    har: "webhooks.list_deliveries/times",
    specified: false,
    answer: alterAt(
      /\/deliveries$/,
      200,
      alterText((all) => all.replaceAll(/,"next_retry":[^,}]+/g, "")),
    ),
  },
  {
    title: "transcript entries that end before they start [2.4]",
    live: "meeting_sessions.export_transcript/json",
    har: "meeting_sessions.export_transcript/json",
    specified: true,
    answer: alterAt(/format=json/, 200, (answer) => ({
      ...answer,
      body: JSON.stringify(
        JSON.parse(answer.body).map((one: Body) => ({
          ...one,
          ...{ start_time: one["end_time"], end_time: one["start_time"] },
        })),
      ),
    })),
  },
  {
    title: "deliveries with the status `ok` [2.12]",
    live: "webhooks.list_deliveries/answer",
    har: "webhooks.list_deliveries/answer",
    specified: true,
    answer: alterAt(
      /\/deliveries$/,
      200,
      alterText((all) => all.replaceAll('"status":"success","response', '"status":"ok","response')),
    ),
  },
  {
    title: "departments without color where it is null [2.2]",
    live: "departments.reparent/there-and-back",
    har: "departments.reparent/answer",
    specified: true,
    write: true,
    answer: alterAt(
      /\/reparent/,
      200,
      alterBody(({ color: _, ...json }) => json),
    ),
  },
  {
    title: "log entries with the prefix `entry_` [2.1]",
    live: "change_logs.list/answer",
    har: "change_logs.list/answer",
    specified: true,
    answer: alterAt(
      CHANGE_LOGS,
      200,
      alterText((all) => all.replaceAll('"log_', '"entry_')),
    ),
  },
  {
    title: "has_more that is always false [4.8]",
    live: "assistants.list_history/pages",
    har: "assistants.list_history/pages",
    specified: true,
    answer: alterAt(
      HISTORY,
      200,
      alterText((all) => all.replaceAll('"has_more":true', '"has_more":false')),
    ),
  },
  {
    title: "has_more that is always true [4.8]",
    live: "assistants.list_history/pages",
    har: "assistants.list_history/pages",
    specified: true,
    answer: alterAt(
      HISTORY,
      200,
      alterText((all) => all.replaceAll('"has_more":false', '"has_more":true')),
    ),
  },
  {
    title: "a page of sentences without a link to the next [4.11]",
    live: "transcriptions.list_sentences/counts",
    har: "transcriptions.list_sentences/counts",
    specified: true,
    answer: alterAt(
      SENTENCES,
      200,
      alterBody(({ actions: { next: _, ...actions }, ...json }) => ({ ...json, actions })),
    ),
  },
  {
    title: "a link to the next page that leads to the same page [4.11]",
    live: "transcriptions.list_sentences/counts",
    har: "transcriptions.list_sentences/counts",
    specified: true,
    answer: alterAt(
      SENTENCES,
      200,
      alterBody(({ actions, ...json }, { path }) => {
        const offset = Number(/offset=(\d+)/.exec(path)?.[1] ?? 0);
        if (actions.next === undefined) return { ...json, actions };
        const next = JSON.parse(JSON.stringify(actions.next).replace(/offset=\d+/, `offset=${offset}`));
        return { ...json, actions: { ...actions, next } };
      }),
    ),
  },
  {
    title: "all sentences asked for, and 20 answered [4.11]",
    live: "transcriptions.list_sentences/counts",
    har: "transcriptions.list_sentences/counts",
    specified: true,
    answer: (answer, request) =>
      answer.status === 200 && SENTENCES.test(request.path) && !request.path.includes("limit=")
        ? alterBody(({ data, metadata, ...json }) => {
            const sentences = data.sentences.slice(0, 20);
            return {
              ...json,
              data: { ...data, sentences },
              metadata: { ...metadata, returned_count: sentences.length },
            };
          })(answer, request)
        : answer,
  },
  {
    title: "a default page of 50 tracks [4.4]",
    live: "music_collections.list_tracks/pages",
    har: "music_collections.list_tracks/pages",
    specified: true,
    ask: (request) =>
      TRACKS.test(request.path) && !request.path.includes("limit=")
        ? { ...request, path: `${request.path}${request.path.includes("?") ? "&" : "?"}limit=50` }
        : request,
  },
  {
    title: "a page beyond the maximum of 100 change logs [4.16]",
    live: "change_logs.list/malformed",
    har: "change_logs.list/pages",
    specified: true,
    ask: alterSentBody(CHANGE_LOGS, ({ take, ...sent }) => ({
      ...sent,
      ...(take === undefined ? {} : { take: typeof take === "number" ? Math.min(100, take) : take }),
    })),
    answer: (answer, request) => {
      if (answer.status !== 200 || !CHANGE_LOGS.test(request.path)) return answer;
      return alterBody((json, { body: sent }) => ({
        ...json,
        take: JSON.parse(sent || "{}").take ?? json["take"],
      }))(answer, request);
    },
  },
  {
    title: "pages that overlap by one [4.8]",
    live: "assistants.list_history/pages",
    har: "assistants.list_history/pages",
    specified: true,
    ask: (request) =>
      HISTORY.test(request.path)
        ? { ...request, path: request.path.replace(/offset=([1-9]\d*)/, (_all, n) => `offset=${n - 1}`) }
        : request,
    answer: alterAt(
      HISTORY,
      200,
      alterBody((json, { path }) => ({
        ...json,
        pagination: { ...json["pagination"], offset: Number(/offset=(\d+)/.exec(path)?.[1] ?? 0) },
      })),
    ),
  },
  {
    title: "a history's user_id that filters nothing [4.8]",
    live: "assistants.list_history/filters",
    har: "assistants.list_history/filters",
    specified: true,
    ask: alterPath(/user_id=usr_\w+/, ""),
  },
  {
    title: "an end_date that filters nothing [4.16]",
    live: "change_logs.list/filters",
    har: "change_logs.list/filters",
    specified: true,
    ask: alterSentBody(CHANGE_LOGS, ({ end_date: _, ...sent }) => sent),
  },
  {
    title: "a from_date that filters nothing [4.15]",
    live: "audit_logs.export/csv",
    har: "audit_logs.export/csv",
    specified: true,
    ask: alterPath(/from_date=[^&]+/, ""),
  },
  {
    title: "an order_by that orders nothing [G14]",
    live: "connector_jobs.list/filters",
    har: "connector_jobs.list/filters",
    specified: false,
    ask: alterPath(/order_by=[^&]+/, ""),
  },
  {
    title: "an audit log with a tenth column [2.6]",
    live: "audit_logs.export/csv",
    har: "audit_logs.export/csv",
    specified: true,
    answer: alterAt(
      /\/audit-log\/export/,
      200,
      alterText((all) => all.replace(/(\r?\n|$)/g, ",x$1")),
    ),
  },
  {
    title: "files that are completed before they are started [2.9]",
    live: "store_files.retrieve_status/progress",
    har: "store_files.retrieve_status/progress",
    specified: true,
    answer: alterAt(
      /\/files\/[^/]+\/status/,
      200,
      alterBody((json) => ({
        ...json,
        ...(json["completed_at"] === null ? {} : { completed_at: "2026-03-01T00:00:00.000Z" }),
      })),
    ),
  },
  {
    title: "sentences that end before they start [2.5]",
    live: "transcriptions.list_sentences/times",
    har: "transcriptions.list_sentences/times",
    specified: true,
    answer: alterAt(
      SENTENCES,
      200,
      alterText((all) => all.replace(/"start":([\d.]+),"end":([\d.]+)/g, '"start":$2,"end":$1')),
    ),
  },
  {
    title: "INVALID_INPUT with 400 [7.4]",
    live: "change_logs.list/malformed",
    har: "change_logs.list/refusals",
    specified: true,
    answer: alterAt(CHANGE_LOGS, 422, (answer, request) =>
      alterBody(({ error, ...json }) => ({ ...json, error: { ...error, status: 400 } }))(
        { ...answer, status: 400 },
        request,
      ),
    ),
  },
  {
    title: "AUTHENTICATION_REQUIRED with 403 [7.4]",
    live: "models.list/no-credentials",
    har: "models.list/refusals",
    specified: true,
    answer: alterAt(/\/v1\/models$/, 401, alterStatus(403)),
  },
  {
    title: "404 in place of 403 for another organization [4.17]",
    live: "usage.retrieve_limits/foreign",
    har: null,
    specified: true,
    answer: alterAt(/\/usage\/limits\//, 403, (answer, request) =>
      alterBody(({ error, ...json }) => ({
        ...json,
        error: { ...error, code: "ORGANIZATION_NOT_FOUND", type: "client_error", status: 404 },
      }))({ ...answer, status: 404 }, request),
    ),
  },
  {
    title: "another organization's audit log in place of 403 [5]",
    live: "audit_logs.export/foreign",
    har: "audit_logs.export/csv",
    specified: true,
    ask: alterPath("/organizations/org_globex/audit-log", "/organizations/org_acme/audit-log"),
  },
  {
    title: "an error without timestamp at an assumed endpoint [7.1]",
    live: "connector_jobs.retrieve/unknown",
    har: "connector_jobs.retrieve/refusals",
    specified: true,
    answer: alterAt(
      /\/jobs\/[^/]+$/,
      404,
      alterBody(({ error: { timestamp: _, ...error }, ...json }) => ({ ...json, error })),
    ),
  },
  {
    title: "a 401 of the type client_error [7.1]",
    live: "models.list/no-credentials",
    har: "models.list/refusals",
    specified: true,
    answer: alterAt(/\/v1\/models$/, 401, alterType("client_error")),
  },
  {
    title: "a 403 of the type permission_error [7.1]",
    live: "usage.retrieve_limits/foreign",
    har: "usage.retrieve_limits/refusals",
    specified: true,
    answer: alterAt(/\/usage\/limits\//, 403, alterType("permission_error")),
  },
  {
    title: "a 403 of the type permission_error at an assumed refusal [7.1]",
    live: "audit_logs.export/foreign",
    har: "audit_logs.export/refusals",
    specified: true,
    answer: alterAt(/\/audit-log/, 403, alterType("permission_error")),
  },
  {
    title: "errors sent as text/plain [4]",
    live: "assistants.list_history/unknown",
    har: "assistants.list_history/refusals",
    specified: true,
    answer: alterAt(HISTORY, 404, set("content-type", "text/plain")),
  },
  {
    title: "X-RateLimit-Reset in seconds from now [8]",
    live: "headers/rate-limit",
    har: "headers/rate-limit",
    specified: true,
    answer: set("x-ratelimit-reset", "42"),
  },
  {
    title: "X-RateLimit-Remaining that never falls [8]",
    live: "headers/rate-limit",
    har: null,
    specified: true,
    answer: set("x-ratelimit-remaining", "99"),
  },
  {
    title: "a deleted webhook in the listing [4.21]",
    live: "webhooks/lifecycle",
    har: "webhooks.delete/gone",
    specified: true,
    write: true,
    ask: (request) =>
      request.method === "DELETE" && request.path.includes("/webhooks/")
        ? { ...request, method: "GET", path: `${request.path}/deliveries` }
        : request,
    answer: (answer, { method, path }) =>
      method === "DELETE" && path.includes("/webhooks/") && answer.status === 200
        ? {
            ...answer,
            body: JSON.stringify({
              status: "success",
              data: { webhook_id: path.split("/").at(-1), deleted: true },
            }),
          }
        : answer,
  },
  {
    title: "a webhook's change that does not stick [4.21]",
    live: "webhooks/lifecycle",
    har: "webhooks.update/sticks",
    specified: true,
    write: true,
    answer: alterAt(WEBHOOKS, 200, (answer, request) =>
      request.method === "GET"
        ? alterText((all) =>
            all
              .replaceAll(/"url":"[^"]+\/(new|changed)"/g, '"url":"http://127.0.0.1:9/ops"')
              .replaceAll('"thread.deleted"', '"user.deleted"'),
          )(answer, request)
        : answer,
    ),
  },
  {
    title: "deliveries that are signed with another secret [6.3]",
    live: "webhooks/lifecycle",
    har: null,
    specified: true,
    write: true,
    answer: alterAt(
      WEBHOOKS,
      201,
      alterText((all) => all.replace(/whsec_\w+/, "whsec_another")),
    ),
  },
  {
    title: "200 and the job in place of 204 where a job is cancelled [3.2]",
    live: "connector_jobs/trigger-and-cancel",
    har: "connector_jobs.cancel/answer",
    specified: true,
    write: true,
    answer: alterAt(/\/cancel$/, 204, (answer) => ({
      ...answer,
      status: 200,
      headers: { ...answer.headers, "content-type": "application/json" },
      body: '{"job_id":"job_sync_running","status":"cancelled"}',
    })),
  },
  {
    title: "events of a stream in reversed order [G16]",
    live: "meeting_sessions.stream_status/answer",
    har: "meeting_sessions.stream_status/answer",
    specified: false,
    answer: alterAt(
      /\/status\/stream/,
      200,
      alterText((all) => `${all.trim().split("\n\n").toReversed().join("\n\n")}\n\n`),
    ),
  },
  {
    title: "a model's answer without content [4.19]",
    live: "model_responses.create/short",
    har: "model_responses.create/answer",
    specified: true,
    write: true,
    answer: alterAt(
      /\/model\/response/,
      200,
      alterBody((json) => ({ ...json, output: json["output"].map(({ content: _, ...one }: Body) => one) })),
    ),
  },
  {
    title: "an extended image without X-Provider-Request-Id [4.20]",
    live: "images.uncrop/small",
    har: "images.uncrop/answer",
    specified: true,
    write: true,
    answer: alterAt(/\/uncrop/, 200, without("x-provider-request-id")),
  },
  {
    title: "an upload URL without gcs_path [4.6]",
    live: "files/resumable",
    har: "files.create_upload_url/answer",
    specified: true,
    write: true,
    answer: alterAt(
      /\/upload-url$/,
      200,
      alterBody(({ gcs_path: _, ...json }) => json),
    ),
  },
];
