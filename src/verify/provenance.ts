import type { AnyOperation } from "../contract/operation.ts";

interface Assumed {
  /** The path, or that there is such an endpoint at all; then everything it answers is assumed too. */
  endpoint?: string;
  /** The status of a success. */
  status?: string;
  /** The whole body. */
  body?: string;
  /** Parts of the body: places with `*` for an array's items, and all that lies beneath them. */
  fields?: Readonly<Record<string, string>>;
  /** Parts whose names the reference shows, and neither types nor values. */
  types?: Readonly<Record<string, string>>;
  /** Headers of a success, in lower case. */
  headers?: Readonly<Record<string, string>>;
}

const NOTIFICATIONS = { "/organization_id": "G15", "/updated_at": "G15", "/notifications/*": "G15" };
const CONDITIONAL = { endpoint: "G17" };

/**
 * What the declarations add to the reference, by operation: it shows the rest. Operations whose section is
 * an assumption's id are assumed as a whole.
 */
const ASSUMED: Readonly<Record<string, Assumed>> = {
  "assistants.list_history": {
    fields: { "/audit_logs/*/action": "G31", "/audit_logs/*/resource_type": "G31" },
  },
  "change_logs.list": { fields: { "/logs/*/action": "G31", "/logs/*/resource_type": "G31" } },
  "connector_jobs.list": {
    fields: { "/total": "G14", "/limit": "G14", "/offset": "G14" },
    types: { "/jobs/*": "G14" },
  },
  "connector_jobs.retrieve": { endpoint: "G14" },
  "connector_jobs.trigger": { endpoint: "G14" },
  "connector_jobs.cancel": { endpoint: "G14" },
  "connector_notifications.retrieve": { fields: NOTIFICATIONS },
  "connector_notifications.update": { fields: NOTIFICATIONS },
  "connector_notifications.test": { body: "G15" },
  "departments.reparent": { fields: { "/color": "G10" } },
  "files.create_upload_url": {
    status: "G13",
    fields: { "/expires_at": "G13", "/method": "G13", "/upload_url": "G13" },
  },
  // The id is the one field of a file object that the reference shows.
  "files.register": {
    status: "G13",
    fields: Object.fromEntries(
      ["object", "filename", "mime_type", "file_size", "organization_id", "status", "gcs_path"]
        .concat("created_at", "created_by")
        .map((name) => [`/${name}`, "G13"]),
    ),
  },
  "files.upload": { endpoint: "G13" },
  "images.uncrop": { headers: { "x-provider": "G26" } },
  "meeting_sessions.export_transcript": {
    fields: { "/*/confidence": "G16", "/*/language_code": "G16" },
  },
  "model_responses.create": {
    status: "G20",
    fields: Object.fromEntries(
      ["id", "object", "created_at", "model", "usage", "inputs", "output/*/type", "output/*/role"]
        .concat("output/*/content/*/type")
        .map((name) => [`/${name}`, "G20"]),
    ),
  },
  "models.list": { body: "G21" },
  "models.list_v2": { endpoint: "G21" },
  "models.list_for_organization": { endpoint: "G22" },
  "store_files.retrieve_status": { fields: { "/current_step": "G11", "/status": "G11" } },
  "transcriptions.list_paragraphs": CONDITIONAL,
  "transcriptions.list_sentences": {
    fields: { "/success": "G17", "/actions/*": "G17" },
    types: { "/metadata": "G17", "/actions": "G17" },
  },
  "users.set_current_organization": { fields: { "/organization/type": "G27" } },
  "webhooks.create": { status: "G23" },
  "webhooks.update": { status: "G23", body: "G23" },
  "webhooks.delete": { status: "G23", body: "G23" },
  "webhooks.test": { status: "G23", body: "G23" },
  "webhooks.redeliver": { status: "G23", body: "G23" },
};

/** The assumption that there is such an endpoint, or undefined where the reference shows it. */
export function assumedEndpoint({ id, section }: AnyOperation): string | undefined {
  return section.startsWith("G") ? section : ASSUMED[id]?.endpoint;
}

export function assumedStatus(operation: AnyOperation): string | undefined {
  return assumedEndpoint(operation) ?? ASSUMED[operation.id]?.status;
}

export function assumedHeader(operation: AnyOperation, name: string): string | undefined {
  return assumedEndpoint(operation) ?? ASSUMED[operation.id]?.headers?.[name.toLowerCase()];
}

/**
 * The assumption behind what the declaration says of one place of a success's body; `missing` where the
 * question is whether it is there at all.
 */
export function assumedPlace(
  operation: AnyOperation,
  pointer: string,
  { missing = false } = {},
): string | undefined {
  const whole = assumedEndpoint(operation) ?? ASSUMED[operation.id]?.body;
  if (whole !== undefined) return whole;
  const { fields = {}, types = {} } = ASSUMED[operation.id] ?? {};
  const parts = pointer.split("/");
  for (const [place, gap] of Object.entries(missing ? fields : { ...types, ...fields })) {
    const wanted = place.split("/");
    if (wanted.every((part, i) => part === parts[i] || (part === "*" && parts[i] !== undefined))) return gap;
  }
  return undefined;
}

/** Sections that show an error of their operation, and so its envelope; 7.1 says of the others only "most". */
const SHOWN_ERRORS = new Set(["4.1", "4.3", "4.4", "4.5", "4.7", "4.8", "4.9", "4.12", "4.17"]);

/** The assumption that the operation's errors come in its declared envelope and in no other of section 7. */
export function assumedEnvelope(operation: AnyOperation | undefined): string | undefined {
  if (operation === undefined) return "G04";
  if (SHOWN_ERRORS.has(operation.section)) return undefined;
  return assumedEndpoint(operation) ?? operation.assumptions?.[0] ?? "G05";
}

/** Every assumption that the table names, for its test. */
export function provenanceTable(): typeof ASSUMED {
  return ASSUMED;
}
