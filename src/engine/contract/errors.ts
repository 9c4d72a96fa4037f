export type ErrorType = "client_error" | "authentication_error" | "authorization_error" | "server_error";

/**
 * The source of a detail of an error (section 7.1). A refusal has the value itself; a fault reads it from the request.
 */
export type DetailSource =
  /** The request's value under the detail's name, in its path, body or query. */
  | "sent"
  /** The first of these names that the request contains. */
  | { sent: readonly string[] }
  /** A JSON pointer into the body. */
  | { body: string }
  | { always: string | number }
  /** The organization that the request is about (G32). */
  | "organization"
  /** The field at fault and what was sent there (G08). */
  | "input"
  /** The header whose digest does not fit, and what was sent there (G43). */
  | "digest"
  /** The caller's rate window (section 8). */
  | "rate"
  /** The caller's monthly limits (section 4.17). */
  | "spending"
  /** The current time, as a timestamp. */
  | "now";

/**
 * The sources of an error's details, by name. A list names parts of the request, which are also the names of the details;
 * `parameter` stands for the last parameter of its path (G27).
 */
export type Details = readonly string[] | Readonly<Record<string, DetailSource>> | "parameter";

/** Details by name, each with its source. */
export type DetailSources = Readonly<Record<string, DetailSource>>;

interface CatalogueEntry {
  status: number;
  type: ErrorType;
  message: string;
  /** Explains how to correct the request (G29). */
  system_message: string;
  /** The section or assumption that names the code. */
  source: string;
  /** Details in most operations; an operation with others declares them with the code. */
  details?: Details;
}

const defineError = (
  status: number,
  source: string,
  message: string,
  system_message: string,
  details?: Details,
): CatalogueEntry => ({ status, type: toErrorType(status), message, system_message, source, details });

function toErrorType(status: number): ErrorType {
  if (status === 401) return "authentication_error";
  if (status === 403) return "authorization_error";
  return status >= 500 ? "server_error" : "client_error";
}

/**
 * All error codes of the emulated API (section 7.4 and assumptions). `status` and `type` follow from the code. An
 * operation lists the codes that it can answer.
 */
export const CATALOGUE = {
  AUTHENTICATION_REQUIRED: defineError(
    401,
    "7.4",
    "Authentication is required.",
    "Send a valid API key as `api-key`, `X-API-Key` or `Authorization: Bearer`, or an access token that has not expired.",
  ),
  INSUFFICIENT_PERMISSIONS: defineError(
    403,
    "7.4",
    "You do not have permission to perform this action.",
    "The credentials are valid, but the user lacks the membership, role or capability that this operation asks for.",
    { required_role: { always: "admin" } },
  ),
  SESSION_ACCESS_DENIED: defineError(
    403,
    "7.4",
    "You do not have access to this meeting session.",
    "Use credentials of a member of the organization that the session belongs to.",
    ["session_id"],
  ),
  ORGANIZATION_ACCESS_DENIED: defineError(
    403,
    "7.4",
    "You do not have access to this organization.",
    "The user of these credentials is not a member of the organization; use another key or be invited.",
    { organization_id: "organization" },
  ),
  RESOURCE_NOT_FOUND: defineError(
    404,
    "7.4",
    "The requested resource was not found.",
    "No such resource is visible to these credentials; check the id, the path and the organization.",
    "parameter",
  ),
  SESSION_NOT_FOUND: defineError(
    404,
    "7.4",
    "The meeting session was not found.",
    "Check the session id; a session that was permanently deleted does not come back.",
    ["session_id"],
  ),
  FILE_NOT_IN_STORE: defineError(
    404,
    "7.4",
    "The file is not in this store.",
    "Attach the file to the store first, or ask the store that holds it.",
    ["file_id", "store_id"],
  ),
  DASHBOARD_NOT_FOUND: defineError(
    404,
    "7.4",
    "The dashboard was not found.",
    "The dashboard does not exist or is not visible to these credentials.",
    ["dashboard_id"],
  ),
  ORGANIZATION_NOT_FOUND: defineError(
    404,
    "7.4",
    "The organization was not found.",
    "Check the organization id in the request.",
    { organization_id: "organization" },
  ),
  METHOD_NOT_ALLOWED: defineError(
    405,
    "G04",
    "The method is not allowed for this path.",
    "Use one of the methods in the `Allow` header.",
  ),
  INVALID_JSON: defineError(
    400,
    "G09",
    "The request body is not valid JSON.",
    "Send a UTF-8 encoded JSON document that matches the content type.",
  ),
  INVALID_DIGEST: defineError(
    400,
    "G43",
    "The bytes do not have the digest that was sent.",
    "Nothing was stored. Send all bytes again, with the base64 of their digest.",
    { field: "digest", value: "digest" },
  ),
  PAYLOAD_TOO_LARGE: defineError(
    413,
    "G09",
    "The request body is too large.",
    "Send a smaller body, or use the resumable upload for large files.",
  ),
  UNSUPPORTED_MEDIA_TYPE: defineError(
    415,
    "G09",
    "The content type is not supported.",
    "Send the content type that this operation documents.",
  ),
  DEPARTMENT_CYCLE_DETECTED: defineError(
    422,
    "7.4",
    "The move would create a cycle in the department hierarchy.",
    "Choose a parent that is neither the department itself nor one of its descendants.",
    {
      department_id: "sent",
      // A move under itself is the shortest cycle.
      new_parent_id: { sent: ["new_parent_id", "department_id"] },
    },
  ),
  INVALID_INPUT: defineError(
    422,
    "7.4",
    "A field of the request is invalid.",
    "Correct the field that the details name and send the request again.",
    { field: "input", value: "input" },
  ),
  RATE_LIMIT_EXCEEDED: defineError(
    429,
    "G05",
    "The rate limit is exceeded.",
    "Wait for the seconds given in `Retry-After`, then send the request again.",
    { limit: "rate", window_seconds: "rate", retry_after_seconds: "rate" },
  ),
  SPENDING_LIMIT_EXCEEDED: defineError(
    429,
    "G05",
    "A spending limit is exceeded.",
    "Raise the limit that the details name, or wait for the next calendar month.",
    { scope: "spending", monthly_limit: "spending", current_usage: "spending" },
  ),
  UPLOAD_EXPIRED: defineError(
    410,
    "G13",
    "The upload URL has expired.",
    "Ask for a new upload URL and start the upload again.",
    { expires_at: "now" },
  ),
  UPLOAD_CANCELLED: defineError(
    499,
    "G13",
    "The upload was cancelled.",
    "Ask for a new upload URL to upload the file after all.",
  ),
  INTERNAL_ERROR: defineError(
    500,
    "G04",
    "An unexpected error occurred.",
    "Nothing was changed. The server's log has the cause under this trace id.",
  ),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof CATALOGUE;

/** A code as an operation declares it: with the catalogue's details, or with its own. */
export type DeclaredError = ErrorCode | { code: ErrorCode; details: Details };

export function toErrorCode(error: DeclaredError): ErrorCode {
  return typeof error === "string" ? error : error.code;
}

interface ApiErrorOptions {
  details?: Record<string, unknown>;
  message?: string;
  system_message?: string;
  headers?: Record<string, string>;
  /** For the journal only (interfaces.md 11): reasons that code and details do not contain. */
  reason?: string;
}

/** The only error with which an operation refuses a request; any other is a 500. Each rolls back the changes. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: ErrorType;
  readonly system_message: string;
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly reason: string | undefined;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    const entry = CATALOGUE[code];
    super(options.message ?? entry.message);
    this.code = code;
    this.status = entry.status;
    this.type = entry.type;
    this.system_message = options.system_message ?? entry.system_message;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
    this.reason = options.reason;
  }
}

/** 422 INVALID_INPUT for one field; `value` as it was sent, null if missing (G08). */
export function invalidInput(field: string, value: unknown, message?: string): ApiError {
  return new ApiError("INVALID_INPUT", {
    details: { field, value: value === undefined ? null : value },
    message,
    system_message: message && `The request was understood but not accepted: ${message}.`,
  });
}

/** 404 RESOURCE_NOT_FOUND with details keyed by the parameter's name (G27). */
export function resourceNotFound(parameter: string, id: unknown): ApiError {
  return new ApiError("RESOURCE_NOT_FOUND", { details: { [parameter]: id } });
}

/** The sources of an error's details, by name, for an operation with this path. */
export function toDetailSources(details: Details | undefined, path: string): DetailSources {
  if (details === undefined) return {};
  if (details === "parameter")
    return toSentSources([...path.matchAll(/\{([^{}]+)\}/g)].slice(-1).map(([, name]) => name!));
  return Array.isArray(details) ? toSentSources(details) : (details as DetailSources);
}

function toSentSources(names: readonly string[]): DetailSources {
  return Object.fromEntries(names.map((name) => [name, "sent"]));
}

/** A defect of a user's own operation. The request is answered 500; the message is in the timeline and the log. */
export class OwnOperationError extends Error {
  override readonly name = "OwnOperationError";
  /** The id or name of the declaration. */
  readonly subject: string | undefined;

  constructor(
    message: string,
    { subject, ...options }: ErrorOptions & { subject?: string | undefined } = {},
  ) {
    super(message, options);
    this.subject = subject;
  }
}
