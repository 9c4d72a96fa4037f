import type { ProxiedRequest, ProxiedResponse } from "../verify-setup.ts";

/** One deviation of a service from the contract. */
export interface Alteration {
  title: string;
  /** The check that finds it in a live run. */
  live: string;
  /** The check that finds it in a recording of ordinary traffic; null if none does. */
  har: string | null;
  /** Whether a live run finds it only with `--write`. */
  write?: true;
  answer?: (answer: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse;
  ask?: (request: ProxiedRequest) => ProxiedRequest;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape are altered
export type Body = Record<string, any>;

const alterHeader =
  (
    change: (headers: ProxiedResponse["headers"]) => ProxiedResponse["headers"],
  ): NonNullable<Alteration["answer"]> =>
  (answer) => ({ ...answer, headers: change(answer.headers) });

export const without = (...names: string[]) =>
  alterHeader((headers) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name))),
  );

export const set = (name: string, value: string) =>
  alterHeader((headers) => (name in headers ? { ...headers, [name]: value } : headers));

/** Changes responses whose path and status match. */
export const alterAt =
  (
    path: RegExp,
    status: number,
    change: NonNullable<Alteration["answer"]>,
  ): NonNullable<Alteration["answer"]> =>
  (answer, request) =>
    path.test(request.path) && answer.status === status ? change(answer, request) : answer;

export const alterBody =
  (change: (body: Body, request: ProxiedRequest) => unknown): NonNullable<Alteration["answer"]> =>
  (answer, request) => {
    if (answer.body === "" || !String(answer.headers["content-type"]).includes("json")) return answer;
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body), request)) };
  };

export const alterText =
  (change: (text: string) => string): NonNullable<Alteration["answer"]> =>
  (answer) => ({
    ...answer,
    body: change(answer.body),
  });

export const alterStatus =
  (to: number): NonNullable<Alteration["answer"]> =>
  (answer) => ({ ...answer, status: to });

const alterDetails = (change: (details: Body) => Body) =>
  alterBody((json) => ({ ...json, error: { ...json["error"], details: change(json["error"].details) } }));

const withoutZone = (time: string) => time.replace(/Z$/, "");
const TRACKS = /\/tracks/;
const HISTORY = /\/history/;
const SENTENCES = /\/sentences/;
const USAGE = /\/usage\/limits\//;
const LOGS = /\/change-logs/;
const JOBS = /\/jobs(\?|$)/;
const STATUS = /\/files\/[^/]+\/status/;

export const ALTERATIONS: readonly Alteration[] = [
  {
    title: "answers without x-request-id",
    live: "headers/x-request-id",
    har: "headers/x-request-id",
    answer: without("x-request-id"),
  },
  {
    title: "an x-request-id that repeats",
    live: "headers/x-request-id",
    har: "headers/x-request-id",
    answer: set("x-request-id", "req_1"),
  },
  {
    title: "answers without service-api-version",
    live: "headers/service-api-version",
    har: "headers/service-api-version",
    answer: without("service-api-version"),
  },
  {
    title: "service-processing-ms that is not a number",
    live: "headers/service-processing-ms",
    har: "headers/service-processing-ms",
    answer: set("service-processing-ms", "fast"),
  },
  {
    title: "service-organization that is not an id",
    live: "headers/service-organization",
    har: "headers/service-organization",
    answer: set("service-organization", "acme"),
  },
  {
    title: "no reset among the rate headers",
    live: "headers/rate-limit",
    har: "headers/rate-limit",
    answer: without("x-ratelimit-reset", "x-ratelimit-reset-requests"),
  },
  {
    title: "a rate reset in milliseconds",
    live: "headers/rate-limit",
    har: "headers/rate-limit",
    answer: alterHeader((headers) => ({
      ...headers,
      "x-ratelimit-reset": `${headers["x-ratelimit-reset"] ?? ""}000`,
    })),
  },
  {
    title: "201 in place of 200 when a department moves",
    live: "departments.reparent/there-and-back",
    har: "departments.reparent/answer",
    write: true,
    answer: alterAt(/\/reparent/, 200, alterStatus(201)),
  },
  {
    title: "409 in place of 422 for a cycle",
    live: "departments.reparent/there-and-back",
    har: "departments.reparent/answer",
    write: true,
    answer: alterAt(/\/reparent/, 422, alterStatus(409)),
  },
  {
    title: "400 in place of 422 for a month of 13",
    live: "usage.retrieve_limits/month",
    har: "usage.retrieve_limits/answer",
    answer: alterAt(/month=13/, 422, alterStatus(400)),
  },
  {
    title: "404 in place of 401 without credentials",
    live: "usage.retrieve_limits/no-credentials",
    har: "usage.retrieve_limits/refusals",
    answer: alterAt(USAGE, 401, alterStatus(404)),
  },
  {
    title: "an answer to a call without credentials",
    live: "usage.retrieve_limits/no-credentials",
    har: "usage.retrieve_limits/no-credentials",
    ask: (request) =>
      USAGE.test(request.path) &&
      !["api-key", "x-api-key", "authorization"].some((name) => name in request.headers)
        ? {
            ...request,
            headers: { ...request.headers, "api-key": "ak_adaOwnerAcme000000000000000000000000000" },
          }
        : request,
  },
  {
    title: "a page with one item too many",
    live: "music_collections.list_tracks/pages",
    har: "music_collections.list_tracks/pages",
    ask: (request) =>
      TRACKS.test(request.path)
        ? { ...request, path: request.path.replace(/limit=(\d+)/, (_all, n) => `limit=${Number(n) + 1}`) }
        : request,
    answer: alterAt(
      TRACKS,
      200,
      alterBody((json, { path }) => ({
        ...json,
        limit: Number(/limit=(\d+)/.exec(path)?.[1] ?? json["limit"]),
      })),
    ),
  },
  {
    title: "a page with one item too few",
    live: "assistants.list_history/pages",
    har: "assistants.list_history/pages",
    answer: alterAt(
      HISTORY,
      200,
      alterBody((json) => ({ ...json, audit_logs: json["audit_logs"].slice(0, -1) })),
    ),
  },
  {
    title: "an offset that is ignored",
    live: "assistants.list_history/pages",
    har: "assistants.list_history/pages",
    ask: (request) =>
      HISTORY.test(request.path)
        ? { ...request, path: request.path.replace(/offset=\d+/, "offset=0") }
        : request,
  },
  {
    title: "a filter that is ignored",
    live: "assistants.list_history/filters",
    har: "assistants.list_history/filters",
    ask: (request) =>
      HISTORY.test(request.path) ? { ...request, path: request.path.replace("action=updated", "") } : request,
  },
  {
    title: "tracks in reversed order",
    live: "music_collections.list_tracks/order",
    har: "music_collections.list_tracks/order",
    answer: alterAt(
      TRACKS,
      200,
      alterBody((json) => ({ ...json, items: json["items"].toReversed() })),
    ),
  },
  {
    title: "change logs in reversed order",
    live: "change_logs.list/filters",
    har: "change_logs.list/filters",
    answer: alterAt(
      LOGS,
      200,
      alterBody((json) => ({ ...json, logs: json["logs"].toReversed() })),
    ),
  },
  {
    title: "connector jobs in reversed order",
    live: "connector_jobs.list/filters",
    har: "connector_jobs.list/filters",
    answer: alterAt(
      JOBS,
      200,
      alterBody((json) => ({ ...json, jobs: json["jobs"].toReversed() })),
    ),
  },
  {
    title: "envelope A where a thread's error has envelope B",
    live: "threads.delete/unknown",
    har: "threads.delete/refusals",
    write: true,
    answer: alterAt(
      /\/threads\//,
      404,
      alterBody(({ error }) => ({
        success: false,
        error: { ...error, status: 404, details: {}, trace_id: "t", timestamp: "2026-03-15T12:00:00Z" },
      })),
    ),
  },
  {
    title: "envelope B where usage has envelope A",
    live: "usage.retrieve_limits/unknown",
    har: "usage.retrieve_limits/refusals",
    answer: alterAt(
      USAGE,
      404,
      alterBody(({ error: { message, code } }) => ({ error: { message, code, type: "not_found_error" } })),
    ),
  },
  {
    title: "errors without trace_id",
    live: "usage.retrieve_limits/unknown",
    har: "usage.retrieve_limits/refusals",
    answer: alterAt(
      USAGE,
      404,
      alterBody(({ error: { trace_id: _, ...error }, ...json }) => ({ ...json, error })),
    ),
  },
  {
    title: "a status in the error that is not the answer's",
    live: "usage.retrieve_limits/month",
    har: "usage.retrieve_limits/refusals",
    answer: alterAt(
      /month=13/,
      422,
      alterBody((json) => ({ ...json, error: { ...json["error"], status: 400 } })),
    ),
  },
  {
    title: "another code for an unknown session",
    live: "meeting_sessions.export_transcript/unknown",
    har: "meeting_sessions.export_transcript/refusals",
    answer: alterAt(
      /\/transcripts\/export/,
      404,
      alterText((all) => all.replace("SESSION_NOT_FOUND", "NOT_FOUND")),
    ),
  },
  {
    title: "another key in the details of a file that is not in the store",
    live: "store_files.retrieve_status/unknown",
    har: "store_files.retrieve_status/refusals",
    answer: alterAt(
      STATUS,
      404,
      alterDetails(({ file_id, ...rest }) => ({ ...rest, file: file_id })),
    ),
  },
  {
    title: "no details of an unknown collection",
    live: "music_collections.list_tracks/unknown",
    har: "music_collections.list_tracks/refusals",
    answer: alterAt(
      TRACKS,
      404,
      alterDetails(() => ({})),
    ),
  },
  {
    title: "another value in the details of a month of 13",
    live: "usage.retrieve_limits/month",
    har: "usage.retrieve_limits/malformed",
    answer: alterAt(
      /month=13/,
      422,
      alterDetails((all) => ({ ...all, field: "year" })),
    ),
  },
  {
    title: "a track's timestamp without zone",
    live: "music_collections.list_tracks/answer",
    har: "music_collections.list_tracks/answer",
    answer: alterAt(
      TRACKS,
      200,
      alterBody((json) => ({
        ...json,
        items: json["items"].map((one: Body) => ({ ...one, added_at: withoutZone(one["added_at"]) })),
      })),
    ),
  },
  {
    title: "a log's timestamp in seconds since 1970",
    live: "assistants.list_history/answer",
    har: "assistants.list_history/answer",
    answer: alterAt(
      HISTORY,
      200,
      alterBody((json) => ({
        ...json,
        audit_logs: json["audit_logs"].map((one: Body) => ({
          ...one,
          timestamp: Date.parse(one["timestamp"]) / 1000,
        })),
      })),
    ),
  },
  {
    title: "ids of tracks with another prefix",
    live: "music_collections.list_tracks/answer",
    har: "music_collections.list_tracks/answer",
    answer: alterAt(
      TRACKS,
      200,
      alterText((all) => all.replaceAll("mtrack_", "track_")),
    ),
  },
  {
    title: "a number as a text",
    live: "transcriptions.list_sentences/answer",
    har: "transcriptions.list_sentences/answer",
    answer: alterAt(
      SENTENCES,
      200,
      alterText((all) => all.replace(/"start":([\d.]+)/g, '"start":"$1"')),
    ),
  },
  {
    title: "a field that is missing",
    live: "connectors.list_auth_configs/answer",
    har: "connectors.list_auth_configs/answer",
    answer: alterAt(
      /\/auth-configs/,
      200,
      alterBody(({ total: _, ...json }) => json),
    ),
  },
  {
    title: "null in place of an absent field",
    live: "webhooks.list_deliveries/answer",
    har: "webhooks.list_deliveries/answer",
    answer: alterAt(
      /\/deliveries$/,
      200,
      alterBody((json) => ({
        ...json,
        data: json["data"].map((one: Body) => ({ delivered_at: null, ...one })),
      })),
    ),
  },
  {
    title: "a null that the field cannot be",
    live: "usage.retrieve_limits/answer",
    har: "usage.retrieve_limits/answer",
    answer: alterAt(
      USAGE,
      200,
      alterBody((json) => ({
        ...json,
        organization_limits: { ...json["organization_limits"], current_usage: null },
      })),
    ),
  },
  {
    title: "a field in another spelling",
    live: "usage.retrieve_limits/answer",
    har: "usage.retrieve_limits/answer",
    answer: alterAt(
      USAGE,
      200,
      alterText((all) => all.replace('"keys_exceeded"', '"keysExceeded"')),
    ),
  },
  {
    title: "a status that the figures contradict",
    live: "usage.retrieve_limits/figures",
    har: "usage.retrieve_limits/figures",
    answer: alterAt(
      USAGE,
      200,
      alterText((all) => all.replace('"warning"', '"ok"')),
    ),
  },
  {
    title: "99 percent of a file that is completed",
    live: "store_files.retrieve_status/progress",
    har: "store_files.retrieve_status/progress",
    answer: alterAt(
      STATUS,
      200,
      alterText((all) => all.replace('"progress_percent":100', '"progress_percent":99')),
    ),
  },
  {
    title: "a count that is one too high",
    live: "transcriptions.list_sentences/counts",
    har: "transcriptions.list_sentences/counts",
    answer: alterAt(
      SENTENCES,
      200,
      alterBody((json) => ({
        ...json,
        metadata: { ...json["metadata"], returned_count: json["metadata"].returned_count + 1 },
      })),
    ),
  },
  {
    title: "sentences that may not be kept",
    live: "transcriptions.list_sentences/conditional",
    har: "transcriptions.list_sentences/conditional",
    answer: alterAt(SENTENCES, 200, set("cache-control", "no-store")),
  },
  {
    title: "sentences without an ETag",
    live: "transcriptions.list_sentences/answer",
    har: "transcriptions.list_sentences/answer",
    answer: alterAt(SENTENCES, 200, without("etag")),
  },
  {
    title: "200 in place of 304",
    live: "transcriptions.list_sentences/conditional",
    har: null,
    ask: ({ headers: { "if-none-match": _, ...headers }, ...request }) => ({ ...request, headers }),
  },
  {
    title: "a CSV of another content type",
    live: "audit_logs.export/answer",
    har: "audit_logs.export/answer",
    answer: alterAt(/\/audit-log\/export/, 200, set("content-type", "application/vnd.ms-excel")),
  },
  {
    title: "a CSV with columns exchanged",
    live: "audit_logs.export/csv",
    har: "audit_logs.export/csv",
    answer: alterAt(
      /\/audit-log\/export/,
      200,
      alterText((all) => all.replace("Entity Type,Entity Name", "Entity Name,Entity Type")),
    ),
  },
  {
    title: "an export without a file name",
    live: "meeting_sessions.export_transcript/txt",
    har: "meeting_sessions.export_transcript/txt",
    answer: alterAt(/\/transcripts\/export/, 200, set("content-disposition", "attachment")),
  },
  {
    title: "subtitles that are numbered from zero",
    live: "meeting_sessions.export_transcript/srt",
    har: "meeting_sessions.export_transcript/srt",
    answer: alterAt(
      /format=srt/,
      200,
      alterText((all) => all.replace(/^\d+$/gm, (number) => String(Number(number) - 1))),
    ),
  },
  {
    title: "subtitles that end before they start",
    live: "meeting_sessions.export_transcript/srt",
    har: "meeting_sessions.export_transcript/srt",
    answer: alterAt(
      /format=srt/,
      200,
      alterText((all) => all.replace(/^(\S+) --> (\S+)/gm, "$2 --> $1")),
    ),
  },
  {
    title: "a webhook's secret in the listing",
    live: "webhooks.list/no-secret",
    har: "webhooks.list/no-secret",
    answer: (answer, { path, method }) =>
      method === "GET" && path.endsWith("/webhooks")
        ? { ...answer, body: answer.body.replace('"events"', '"secret":"whsec_1","events"') }
        : answer,
  },
  {
    title: "JSON that is cut off",
    live: "models.list_v2/answer",
    har: "models.list_v2/answer",
    answer: alterAt(
      /\/v2\/models/,
      200,
      alterText((all) => all.slice(0, -10)),
    ),
  },
  {
    title: "a server error",
    live: "connector_notifications.retrieve/answer",
    har: "connector_notifications.retrieve/answer",
    answer: alterAt(/\/notifications$/, 200, alterStatus(500)),
  },
];
