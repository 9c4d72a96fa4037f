import type { ErrorType } from "./errors.ts";
import type { Settings } from "./settings.ts";

/** The forms of errors (section 7): A for most operations, B for threads and assistant history, C for the token endpoints (G06). */
export type Envelope = "A" | "B" | "C";

export interface RenderedError {
  code: string;
  message: string;
  system_message: string;
  status: number;
  type: ErrorType;
  details: Record<string, unknown>;
}

export interface ErrorContext {
  trace_id: string;
  /** ISO 8601, on the sandbox's clock. */
  timestamp: string;
  /** Envelope B's own spelling of catalogue codes, such as `thread_not_found` in 4.7. */
  spellings?: Readonly<Record<string, string>>;
}

export function renderError(error: RenderedError, envelope: Envelope, context: ErrorContext): object {
  return RENDERERS[envelope](error, context);
}

const RENDERERS: Record<Envelope, (error: RenderedError, context: ErrorContext) => object> = {
  A: ({ code, message, system_message, type, status, details }, { trace_id, timestamp }) => ({
    success: false,
    error: { code, message, system_message, type, status, details, trace_id, timestamp },
  }),
  B: ({ code, message, status, details }, { spellings }) => ({
    error: {
      message,
      type: TYPES_OF_B[status] ?? (status >= 500 ? "server_error" : "invalid_request_error"),
      code: toCodeInB(code, spellings),
      // A validation error names the parameter (G08).
      ...(status === 422 && typeof details["field"] === "string" ? { param: details["field"] } : {}),
    },
  }),
  C: ({ message, status, details }) => ({
    detail: prefixField(message, status === 422 ? details["field"] : undefined),
    status_code: status,
    error_type: TYPES_OF_C[status] ?? "APIError",
  }),
};

/** Puts the invalid field, for which envelope C has no member, before a message that does not name it (G09). */
function prefixField(message: string, field: unknown): string {
  return typeof field !== "string" || message.includes(field) ? message : `${field}: ${message}`;
}

const TYPES_OF_B: Record<number, string> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  422: "invalid_request_error",
  429: "rate_limit_error",
};

const CODES_OF_B: Record<string, string> = {
  RATE_LIMIT_EXCEEDED: "rate_limit_exceeded",
  SPENDING_LIMIT_EXCEEDED: "spending_limit_exceeded",
};

export function spellCode(
  code: string,
  envelope: Envelope | undefined,
  operation: Pick<ErrorContext, "spellings"> | undefined,
): string {
  return envelope === "B" ? toCodeInB(code, operation?.spellings) : code;
}

export function toCodeInB(code: string, spellings: ErrorContext["spellings"]): string {
  return spellings?.[code] ?? CODES_OF_B[code] ?? code;
}

const TYPES_OF_C: Record<number, string> = {
  401: "AuthenticationError",
  403: "PermissionError",
  422: "ValidationError",
  429: "RateLimitError",
};

/** Transport and routing errors are always in envelope A (G09). */
const ALWAYS_A = new Set([
  "INVALID_JSON",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "METHOD_NOT_ALLOWED",
]);

/** The envelope of an error. With the setting `auth_errors: guide`, every 401 and 403 is in C (G06). */
export function getEnvelope(
  error: { code: string; status: number },
  operationEnvelope: Envelope,
  authErrors: Settings["auth_errors"],
): Envelope {
  if (ALWAYS_A.has(error.code)) return "A";
  if (authErrors === "guide" && (error.status === 401 || error.status === 403)) return "C";
  return operationEnvelope;
}
