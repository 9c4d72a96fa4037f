import { parse as parseCsv } from "csv-parse/sync";
import type { OperationExchange } from "../verify/recorded/archive.ts";
import { type Fields, type InferredFixture, RECORDED_USER } from "./inferred-fixture.ts";

/** Reads objects from a successful answer; `body` is its JSON. */
type Extractor = (
  world: InferredFixture,
  seen: { body: Fields; exchange: OperationExchange; organization_id: string },
) => void;

type Items = readonly Fields[];

const pick = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(names.filter((name) => fields[name] != null).map((name) => [name, fields[name]]));

/** Added to webhooks, since an inferred fixture must not call anyone's receiver. */
const INACTIVE = { active: false };

const toNumber = (value: unknown, fallback: number) =>
  Number.isFinite(Number(value ?? Number.NaN)) ? Number(value) : fallback;

/** A recording may have any offset; items beyond this one are left out. */
const MAX_POSITION = 100_000;

/** Puts the items of a page at their positions in the list; `filler` replaces items that were not seen. */
function fillPage(
  list: Fields[],
  items: Items,
  { offset, filler }: { offset: number; filler: Fields },
): void {
  if (!Number.isInteger(offset) || offset < 0 || offset > MAX_POSITION) return;
  for (const [i, item] of items.entries()) {
    while (list.length < offset + i) list.push({ ...filler });
    list[offset + i] = item;
  }
}

const extractDepartment: Extractor = (world, { body }) => {
  const chain = String(body["path"]).split("/").slice(0, -1);
  const organization_id = body["organization_id"] as string;
  for (const [i, id] of chain.entries())
    world.record("departments", "id", { id, organization_id, parent_id: chain[i - 1] ?? null });
  const { path: _, depth: __, ...rest } = body;
  world.addOrganization(organization_id);
  world.addUser(body["created_by"], organization_id);
  world.record("departments", "id", rest);
};

const extractJob = (world: InferredFixture, job: Fields, organization_id: string): void => {
  world.record("connections", "id", { id: job["connection_id"], organization_id });
  world.record("connector_jobs", "job_id", {
    ...job,
    duration: job["duration"] ?? undefined,
    // A fixture cannot give what the status rules out.
    ...(job["status"] === "running" && { bytes_synced: undefined, rows_synced: undefined }),
    organization_id,
  });
};

/** The users who made the entries of a log. */
const extractAuthors = (world: InferredFixture, list: Items, organization_id: string): void => {
  for (const { user_id, user_name: name, user_email: email } of list)
    world.addUser(user_id, organization_id, { name, email });
};

const extractFile: Extractor = (world, { body }) => {
  const names = ["id", "filename", "mime_type", "file_size", "organization_id", "created_at", "created_by"];
  world.addUser(body["created_by"], body["organization_id"] as string | undefined);
  world.record("files", "id", pick(body, ...names));
};

const extractStoreFile: Extractor = (world, { body, exchange: { params, sent }, organization_id }) => {
  const file_id = params["file_id"] ?? (sent.body as Fields | undefined)?.["file_id"];
  const store = world.record("vector_stores", "id", { id: params["store_id"], organization_id });
  world.record("files", "id", { id: file_id, organization_id });
  const files = world.openList<Fields>(store, "files");
  const fields = { file_id, ...pick(body, "status", "started_at", "completed_at", "error_message") };
  const index = files.findIndex((one) => one["file_id"] === file_id);
  if (index < 0) files.push(fields);
  else files[index] = fields;
};

const extractSession: Extractor = (world, { body }) => {
  const { session_id: id, owner_id: owner, ...rest } = body;
  world.addUser(owner, body["organization_id"] as string);
  world.record("meeting_sessions", "id", { id, owner, ...rest, ended_at: rest["ended_at"] ?? undefined });
};

const extractWebhook = (world: InferredFixture, webhook: Fields, organization_id: string): void => {
  const { webhook_id: id } = webhook;
  world.record("webhooks", "id", {
    id,
    ...pick(webhook, "url", "events", "description", "created_at"),
    ...INACTIVE,
    organization_id,
  });
};

const extractModels: Extractor = (world, { body }) => {
  for (const model of body["models"] as Items) world.record("models", "key", model);
};

/**
 * Spending by requested month, such as `2026-03`, or `-03` without a year. A fixture has only the current and the previous
 * month: fixture-from-har.ts renames the keys once it knows the latest time in the recording.
 */
const extractUsage: Extractor = (world, { body, exchange: { params, sent } }) => {
  const { month, year } = sent.query;
  const monthKey = month || year ? [year, month?.padStart(2, "0")].join("-") : "current";
  const organization_id = params["org_id"]!;
  const usage = world.openForOrganization<Fields>("usage", organization_id, () => ({ spent: {}, keys: {} }));
  const limits = body["organization_limits"] as Fields;
  const api = body["api_limits"] as Fields | null;
  usage["monthly_limit"] = limits["monthly_limit"];
  usage["api_monthly_limit"] = api?.["monthly_limit"] ?? null;
  (usage["spent"] as Fields)[monthKey] = limits["current_usage"];
  const keyLimits = body["api_key_limits"] as Items;
  for (const { api_key_id, api_key_name: name, monthly_limit, current_usage } of keyLimits) {
    const id = String(api_key_id);
    world.record("api_keys", "id", { id, name, user_id: RECORDED_USER, current: organization_id });
    const keys = usage["keys"] as Record<string, Fields>;
    const key = keys[id] ?? { spent: {} };
    keys[id] = { ...key, monthly_limit, spent: { ...(key["spent"] as Fields), [monthKey]: current_usage } };
  }
};

/** The columns of section 2.6, by the names that fixtures use. */
const CSV_COLUMNS = [
  "timestamp",
  "entity_type",
  "entity_name",
  "action",
  "actor_name",
  "actor_email",
  "target_name",
  "previous_value",
  "new_value",
];

/** An empty cell means an empty text, or null if the field allows it. */
function toAuditEntry(row: Fields): Fields {
  const empty = ["target_name", "previous_value", "new_value"].filter((name) => row[name] === "");
  return { ...row, ...Object.fromEntries(empty.map((name) => [name, null])) };
}

/** By operation. The answers of all others are ignored: they contain nothing for a fixture. */
export const EXTRACTORS: Readonly<Record<string, Extractor>> = {
  "departments.reparent": extractDepartment,
  "users.set_current_organization": (world, { body }) => {
    const { id, ...rest } = body["organization"] as Fields;
    world.addOrganization(String(id), rest);
  },
  "music_collections.list_tracks": (world, { body, exchange: { params, sent } }) => {
    const { organization_id } = params;
    world.addOrganization(organization_id!);
    const id = body["collection_id"];
    const collection = world.record("music_collections", "id", { id, organization_id, owner: RECORDED_USER });
    const items = (body["items"] as Items).map(({ track_id, added_at }) => ({ track_id, added_at }));
    const offset = toNumber(body["offset"] ?? sent.query["offset"], 0);
    fillPage(world.openList(collection, "tracks"), items, { offset, filler: {} });
  },
  "assistants.list_history": (world, { body, exchange: { params, sent }, organization_id }) => {
    const list = body["audit_logs"] as Items;
    const assistant = world.record("assistants", "id", { id: params["assistant_id"], organization_id });
    if (list[0] !== undefined) assistant["name"] = list[0]["resource_name"];
    extractAuthors(world, list, organization_id);
    // A fixture only has the number of entries; the newest one shows the outcome.
    const { query } = sent;
    const isFiltered = ["action", "user_id", "start_date", "end_date"].some(
      (name) => query[name] !== undefined,
    );
    const total = toNumber((body["pagination"] as Fields)["total"], list.length);
    if (isFiltered || total === 0 || toNumber(query["offset"], 0) > 0) return;
    const deleted = list[0]!["action"] === "deleted" ? 1 : 0;
    assistant["history"] = { created: 1, updated: Math.max(0, total - 1 - deleted), deleted };
  },
  "change_logs.list": (world, { body, organization_id }) => {
    const list = body["logs"] as Items;
    extractAuthors(world, list, organization_id);
    const stored = world.openForOrganization<Fields[]>("dashboard_change_logs", organization_id, () => []);
    const ids = new Set(stored.map(({ id }) => id));
    for (const { user_name: _, user_email: __, ...rest } of list) if (!ids.has(rest["id"])) stored.push(rest);
    stored.sort((a, b) => Date.parse(String(b["timestamp"])) - Date.parse(String(a["timestamp"])));
  },
  "audit_logs.export": (world, { exchange: { answer, sent }, organization_id }) => {
    const rows = parseCsv(answer.text, {
      columns: CSV_COLUMNS,
      from_line: 2,
      relax_column_count: true,
    }) as Fields[];
    const stored = world.openForOrganization<Fields[]>("audit_log", organization_id, () => []);
    // A filtered export is a part of the log; the longest one is used.
    if (rows.length <= stored.length && Object.keys(sent.query).length > 0) return;
    stored.splice(0, stored.length, ...rows.map(toAuditEntry));
  },
  "connectors.list_auth_configs": (world, { body, organization_id }) => {
    const stored = world.openForOrganization<Fields[]>("auth_configs", organization_id, () => []);
    stored.splice(0, stored.length, ...(body["auth_configs"] as Fields[]));
  },
  "transcriptions.list_sentences": (world, { body, exchange: { params, sent, answer }, organization_id }) => {
    const { sentences, audio_duration_seconds } = body["data"] as {
      sentences: Items;
      audio_duration_seconds: number;
    };
    const id = params["transcription_id"];
    const policies = answer.headers.get("x-pii-policies")?.split(/,\s*/);
    const transcription = world.record("transcriptions", "id", {
      id,
      organization_id,
      owner: RECORDED_USER,
      status: "completed",
      audio_duration_seconds,
      pii_redaction: policies ?? null,
    });
    const offset = toNumber(sent.query["offset"], 0);
    const filler = { text: "This sentence was not recorded." };
    const list = world.openList<Fields>(transcription, "sentences");
    fillPage(
      list,
      sentences.map((one) => pick(one, "text", "start", "end")),
      { offset, filler },
    );
    const total = Math.min(toNumber((body["metadata"] as Fields)["total_count"], 0), 10_000);
    while (list.length < total) list.push({ ...filler });
  },
  "meeting_sessions.stop": extractSession,
  "meeting_sessions.export_transcript": (world, { body, exchange: { params, sent }, organization_id }) => {
    const id = params["session_id"];
    const stored = world.record("meeting_sessions", "id", { id, organization_id, owner: RECORDED_USER });
    if (sent.query["format"] !== "json") return;
    stored["transcript_entries"] = body as unknown as Items;
  },
  "store_files.retrieve_status": extractStoreFile,
  "store_files.attach": extractStoreFile,
  "files.register": extractFile,
  "files.upload": extractFile,
  "connector_jobs.list": (world, { body, organization_id }) => {
    for (const one of body["jobs"] as Items) extractJob(world, one, organization_id);
  },
  "connector_jobs.retrieve": (world, { body, organization_id }) => extractJob(world, body, organization_id),
  "connector_jobs.trigger": (world, { body, organization_id }) => extractJob(world, body, organization_id),
  "connector_notifications.retrieve": (world, { body, organization_id }) => {
    const stored = world.openForOrganization<unknown[]>("connector_notifications", organization_id, () => []);
    stored.splice(0, stored.length, ...(body["notifications"] as unknown[]));
  },
  "share_links.resolve": (world, { body, exchange: { params }, organization_id }) => {
    const { dashboard_id: id, title, link_id } = body;
    const dashboard = world.record("dashboards", "id", { id, title, organization_id });
    const links = world.openList<Fields>(dashboard, "share_links");
    if (!links.some((one) => one["link_id"] === link_id)) links.push({ link_id, slug: params["slug"] });
  },
  "usage.retrieve_limits": extractUsage,
  "models.list": extractModels,
  "models.list_v2": extractModels,
  "models.list_for_organization": extractModels,
  "webhooks.create": (world, { body, organization_id }) =>
    extractWebhook(world, body["data"] as Fields, organization_id),
  "webhooks.list": (world, { body, organization_id }) => {
    for (const one of body["data"] as Items) extractWebhook(world, one, organization_id);
  },
  "webhooks.list_deliveries": (world, { body, exchange: { params }, organization_id }) => {
    const stored = world.record("webhooks", "id", { id: params["webhook_id"], ...INACTIVE, organization_id });
    stored["url"] ??= "http://127.0.0.1:9/recorded";
    // Recorded deliveries are not retried, and have no time that their status rules out.
    stored["deliveries"] = (body["data"] as Items).map((one) => ({
      ...one,
      next_retry: null,
      [one["status"] === "failed" ? "delivered_at" : "last_attempt"]: undefined,
    }));
  },
};
