import { request } from "node:http";
import type { ErrorCode } from "../../../src/engine/contract/errors.ts";
import type { AnyOperation } from "../../../src/engine/contract/operation.ts";
import { type ApiResponse, KEYS } from "../harness.ts";
import type { FreshWorld, Sent } from "./fresh-world.ts";

interface RefusalContext {
  world: FreshWorld;
  operation: AnyOperation;
  /** A request that would succeed. */
  valid: Sent;
}

/** How to make an operation refuse without a fault. Returns the request to send, or the response. */
export type Refusal = (spoiled: RefusalContext) => Sent | ApiResponse | Promise<Sent | ApiResponse>;

const FEW_BYTES_MB = 0.0005;

const replaceParams =
  (changed: Record<string, string>): Refusal =>
  ({ valid }) => ({ ...valid, params: { ...valid.params, ...changed } });
const replaceBody =
  (changed: unknown): Refusal =>
  ({ valid }) => ({ ...valid, body: changed });
const as =
  (who: Sent["who"]): Refusal =>
  ({ valid }) => ({ ...valid, who });

/** Replaces the last identifier of the path by one that is well-formed and unknown. */
const unknownLast: Refusal = ({ operation, valid }) => {
  const [name = ""] = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).slice(-1);
  return { ...valid, params: { ...valid.params, [name]: valid.params![name]!.replace(/_.*/, "_nowhere") } };
};

/** Replaces the organization in the path. */
const unknownOrganization: Refusal = (spoiled) => {
  const name = spoiled.operation.path.includes("{org_id}") ? "org_id" : "organization_id";
  return replaceParams({ [name]: "org_nowhere" })(spoiled);
};

const malformed: Refusal = (spoiled) => {
  const { operation, valid } = spoiled;
  const first = /\{(\w+)\}/.exec(operation.path)?.[1];
  if (first) return { ...valid, params: { ...valid.params, [first]: "!!" } };
  return operation.body ? { ...valid, body: { nothing: 1 } } : unknownField(spoiled);
};

/** Sends an unknown query parameter, for operations without input that could be malformed. */
const unknownField: Refusal = async ({ world, valid }) => {
  await world.control("PATCH", "", { settings: { unknown_fields: "reject" } });
  return { ...valid, query: "surprise=1" };
};

/** Sets the plan's limit to one request a minute and sends a first request with the key. */
const overRateLimit: Refusal = async ({ world, operation, valid }) => {
  for (const organization of ["org_acme", "org_initech"])
    await world.control("PATCH", `/state/organizations/${organization}`, {
      plan: "enterprise",
      rate_limit: 1,
    });
  await world.call(operation.path, operation.method, valid);
  return valid;
};

const tooLarge: Refusal = async ({ world, valid }) => {
  await world.control("PATCH", "", { settings: { json_limit_mb: FEW_BYTES_MB } });
  return { ...valid, body: { ...(valid.body as object), padding: "x".repeat(1000) } };
};

/** Sends only the headers: the server must refuse the length without waiting for the body. */
function announceBody(bytes: number): Refusal {
  return ({ world, operation, valid }) =>
    new Promise((resolve, reject) => {
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valid.params![name]!);
      const headers: Record<string, string | number> = {
        ...(valid.who ? { "api-key": KEYS[valid.who] } : {}),
        "content-length": bytes,
        ...(operation.body?.kind === "multipart"
          ? { "content-type": "multipart/form-data; boundary=x" }
          : {}),
      };
      const url = `${world.api.url}${world.prefix}${path}${valid.query ? `?${valid.query}` : ""}`;
      const sending = request(url, { method: operation.method, headers, agent: false }, async (response) => {
        let text = "";
        for await (const chunk of response) text += chunk;
        sending.destroy();
        const answered = new Headers(response.headers as Record<string, string>);
        resolve({ status: response.statusCode!, headers: answered, body: JSON.parse(text), text });
      });
      sending.on("error", reject);
      sending.flushHeaders();
    });
}

/** Refusals by code, for all operations that declare it and have no entry in OPERATION_REFUSALS. */
const DEFAULT_REFUSALS: Partial<Record<ErrorCode, Refusal>> = {
  AUTHENTICATION_REQUIRED: as(undefined),
  INSUFFICIENT_PERMISSIONS: as("dan"),
  SESSION_ACCESS_DENIED: as("eve"),
  ORGANIZATION_ACCESS_DENIED: as("eve"),
  ORGANIZATION_NOT_FOUND: unknownOrganization,
  RESOURCE_NOT_FOUND: unknownLast,
  SESSION_NOT_FOUND: replaceParams({ session_id: "mbsess_nowhere" }),
  DASHBOARD_NOT_FOUND: replaceParams({ dashboard_id: "dsh_nowhere" }),
  FILE_NOT_IN_STORE: replaceParams({ file_id: "file_loose" }),
  DEPARTMENT_CYCLE_DETECTED: ({ valid }) => ({
    ...valid,
    params: { ...valid.params, department_id: "dept_eng" },
    body: { new_parent_id: "dept_infra" },
  }),
  INVALID_INPUT: malformed,
  INVALID_JSON: ({ valid }) => ({
    ...valid,
    body: '{"broken',
    headers: { ...valid.headers, "content-type": "application/json" },
  }),
  INVALID_DIGEST: ({ valid }) => ({ ...valid, headers: { ...valid.headers, "content-md5": "wrong" } }),
  UNSUPPORTED_MEDIA_TYPE: ({ valid }) => ({
    ...valid,
    body: "a=1",
    headers: { "content-type": "text/plain" },
  }),
  PAYLOAD_TOO_LARGE: tooLarge,
  RATE_LIMIT_EXCEEDED: overRateLimit,
  SPENDING_LIMIT_EXCEEDED: as("ci"),
  UPLOAD_EXPIRED: async ({ world, valid }) => {
    await world.control("POST", "/clock/advance", { by: "8d" });
    return valid;
  },
  UPLOAD_CANCELLED: ({ valid }) => valid,
};

/** The organization is still the key's current one, but the user is no longer a member. */
const membershipEnded: Refusal = async ({ world, valid }) => {
  await world.control("PATCH", `/state/users/usr_${valid.who}`, { memberships: {}, capabilities: {} });
  return valid;
};
const CURRENT_ORGANIZATION_REFUSALS: Partial<Record<ErrorCode, Refusal>> = {
  ORGANIZATION_ACCESS_DENIED: membershipEnded,
};

const makeForm = (good: Sent, changed: Record<string, string | Blob>): FormData => {
  const data = new FormData();
  for (const [name, value] of good.body as FormData) if (!(name in changed)) data.append(name, value);
  for (const [name, value] of Object.entries(changed)) data.append(name, value);
  return data;
};

const OPERATION_REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, Refusal>>>> = {
  "auth.create_token": {
    AUTHENTICATION_REQUIRED: replaceBody({ api_key: "ak_unknown" }),
    INVALID_INPUT: replaceBody([]),
  },
  "auth.refresh_token": {
    AUTHENTICATION_REQUIRED: replaceBody({ refresh_token: "spent" }),
    INVALID_INPUT: replaceBody({ refresh_token: 7 }),
  },
  "users.set_current_organization": {
    INSUFFICIENT_PERMISSIONS: replaceBody({ organization_id: "org_globex" }),
  },
  "threads.delete": { INSUFFICIENT_PERMISSIONS: as("cleo") },
  "change_logs.list": { INVALID_INPUT: replaceBody({ take: 101 }) },
  "music_collections.list_tracks": { INVALID_INPUT: ({ valid }) => ({ ...valid, query: "limit=501" }) },
  "usage.retrieve_limits": { INVALID_INPUT: ({ valid }) => ({ ...valid, query: "month=13" }) },
  "share_links.resolve": {
    RESOURCE_NOT_FOUND: replaceParams({ slug: "nowhere" }),
    INVALID_INPUT: unknownField,
  },
  "models.list_for_organization": {
    INSUFFICIENT_PERMISSIONS: as("eve"),
    RESOURCE_NOT_FOUND: async ({ world, valid }) => {
      await world.control("PATCH", "", { settings: { preview: "off" } });
      return valid;
    },
  },
  "models.list": CURRENT_ORGANIZATION_REFUSALS,
  "connectors.list_auth_configs": CURRENT_ORGANIZATION_REFUSALS,
  "models.list_v2": {
    ...CURRENT_ORGANIZATION_REFUSALS,
    RESOURCE_NOT_FOUND: async ({ world, valid }) => {
      await world.control("PATCH", "", { settings: { v2_models: "off" } });
      return valid;
    },
  },
  "model_responses.create": {
    ...CURRENT_ORGANIZATION_REFUSALS,
    RESOURCE_NOT_FOUND: replaceBody({
      model: "atlas-large",
      inputs: [{ role: "user", content: "Hi", files: [{ file_id: "file_nowhere" }] }],
    }),
    INVALID_INPUT: replaceBody({ model: "dune-legacy", inputs: [{ role: "user", content: "Hi" }] }),
  },
  "departments.reparent": {
    RESOURCE_NOT_FOUND: replaceBody({ new_parent_id: "dept_globex" }),
    INVALID_INPUT: replaceBody({}),
  },
  "connector_jobs.trigger": {
    RESOURCE_NOT_FOUND: replaceBody({ connection_id: "conn_nowhere", job_type: "sync" }),
    INVALID_INPUT: replaceBody({ connection_id: "conn_drive", job_type: "sync" }),
  },
  "connector_jobs.cancel": { INVALID_INPUT: replaceParams({ job_id: "job_sync_done" }) },
  "connector_notifications.test": { INVALID_INPUT: replaceBody({ notification_type: "webhook" }) },
  "store_files.attach": { RESOURCE_NOT_FOUND: replaceBody({ file_id: "file_nowhere" }) },
  "transcriptions.list_sentences": { INVALID_INPUT: replaceParams({ transcription_id: "trans_pending" }) },
  "transcriptions.list_paragraphs": { INVALID_INPUT: replaceParams({ transcription_id: "trans_pending" }) },
  "webhooks.create": {
    ...CURRENT_ORGANIZATION_REFUSALS,
    INVALID_INPUT: replaceBody({ url: "ftp://x", events: ["user.created"] }),
  },
  "webhooks.list": CURRENT_ORGANIZATION_REFUSALS,
  "webhooks.update": {
    ...CURRENT_ORGANIZATION_REFUSALS,
    INVALID_INPUT: replaceBody({ events: ["user.created", "user.created"] }),
  },
  "webhooks.delete": CURRENT_ORGANIZATION_REFUSALS,
  "webhooks.test": CURRENT_ORGANIZATION_REFUSALS,
  "webhooks.list_deliveries": CURRENT_ORGANIZATION_REFUSALS,
  "webhooks.redeliver": {
    ...CURRENT_ORGANIZATION_REFUSALS,
    INVALID_INPUT: replaceParams({ delivery_id: "del_ok" }),
  },
  "files.register": {
    INVALID_INPUT: ({ valid }) => ({ ...valid, body: { ...(valid.body as object), file_size: 6 } }),
  },
  "files.upload": {
    INVALID_INPUT: ({ valid }) => ({ ...valid, body: makeForm({ body: new FormData() }, { other: "text" }) }),
    PAYLOAD_TOO_LARGE: announceBody(200 * 1024 * 1024),
  },
  "uploads.put": {
    RESOURCE_NOT_FOUND: ({ valid }) => ({ ...valid, query: "upload_id=nowhere" }),
    INVALID_INPUT: ({ valid }) => ({ ...valid, headers: { "content-range": "bytes 9-1/5" } }),
    PAYLOAD_TOO_LARGE: async (spoiled) => {
      const huge = 4 * 1024 ** 4;
      const { query } = await spoiled.world.upload(huge);
      return announceBody(huge)({ ...spoiled, valid: { ...spoiled.valid, query } });
    },
  },
  "uploads.cancel": {
    RESOURCE_NOT_FOUND: ({ valid }) => ({ ...valid, query: "upload_id=nowhere" }),
    INVALID_INPUT: ({ valid }) => ({ ...valid, query: "" }),
  },
  "images.uncrop": {
    ORGANIZATION_NOT_FOUND: ({ valid }) => ({
      ...valid,
      body: makeForm(valid, { organization_id: "org_nowhere" }),
    }),
    INVALID_INPUT: ({ valid }) => ({ ...valid, body: makeForm(valid, { extend_up: "2001" }) }),
    UNSUPPORTED_MEDIA_TYPE: ({ valid }) => ({
      ...valid,
      body: makeForm(valid, { image_file: new File(["<svg/>"], "a.svg", { type: "image/svg+xml" }) }),
    }),
    PAYLOAD_TOO_LARGE: async ({ world, valid }) => {
      await world.control("PATCH", "", { settings: { upload_limit_mb: FEW_BYTES_MB } });
      const image_file = new File([new Uint8Array(10_000)], "a.png", { type: "image/png" });
      return { ...valid, body: makeForm(valid, { image_file }) };
    },
  },
};

/**
 * Declared errors that no request can cause today; faults can. Each has a reason, so that the list does not grow
 * unnoticed.
 */
export const UNREACHABLE_REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, string>>>> = {
  "assistants.list_history": {
    INSUFFICIENT_PERMISSIONS: "G18: a foreign assistant is 404; G03 fixes only the spelling of a 403",
  },
};

export function findRefusalRecipe(operation: AnyOperation, code: ErrorCode): Refusal | undefined {
  if (UNREACHABLE_REFUSALS[operation.id]?.[code]) return undefined;
  return OPERATION_REFUSALS[operation.id]?.[code] ?? DEFAULT_REFUSALS[code];
}
