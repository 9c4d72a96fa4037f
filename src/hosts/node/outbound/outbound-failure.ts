import type { OutboundErrorKind, RequestOutcome } from "./outbound-request.ts";
import { ForbiddenAddressError } from "./resolve-target.ts";

/** The result of an attempt without a complete answer (G24: response_code 0). */
export type Failure = RequestOutcome & Required<Pick<RequestOutcome, "error">>;

export function createFailure(kind: OutboundErrorKind, message: string): Failure {
  return { response_code: 0, headers: {}, body: Buffer.alloc(0), truncated: false, error: { kind, message } };
}

const KINDS_BY_CODE: readonly [RegExp, OutboundErrorKind][] = [
  [/^ECONNREFUSED$/, "refused"],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, "reset"],
  [/^(ENOTFOUND|ENODATA|EAI_\w+)$/, "dns"],
  [/^(EPROTO|ERR_SSL_.*|ERR_TLS_.*|CERT_.*|UNABLE_TO_.*|.*SELF_SIGNED_CERT.*|HOSTNAME_MISMATCH)$/, "tls"],
  [/^(ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/, "unreachable"],
  [/^ETIMEDOUT$/, "timeout"],
  [/^HPE_/, "protocol"],
  [/^ERR_(INVALID_|UNESCAPED_|HTTP_)/, "unsendable"],
];

/** Converts an error of the network, of TLS, of HTTP parsing or of the policy to a failure. Never throws. */
export function toFailure(error: unknown): Failure {
  if (error instanceof ForbiddenAddressError) return createFailure("forbidden_address", error.message);
  const code = findCode(error);
  const kind = KINDS_BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? "network";
  return createFailure(kind, describeCause(error));
}

/** A connection attempt to several addresses fails with one error around the others. */
function findCause(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}

function findCode(error: unknown): string {
  const cause = findCause(error);
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

/** The receiver closed the connection in good order; Node says "socket hang up". */
export const CLOSED_UNANSWERED = "the connection was closed without an answer";
export const RESET_UNANSWERED = "the connection was reset before an answer";

/** Why an answer cannot be read, by the code of Node's parser. */
const UNREADABLE_ANSWERS: Readonly<Record<string, string>> = {
  HPE_INVALID_CONSTANT: "the answer does not begin with a status line such as HTTP/1.1 200 OK",
  HPE_INVALID_VERSION: "the answer's version of HTTP is not 1.1 or 1.0",
  HPE_INVALID_STATUS: "the answer's status is not a number of three digits",
  HPE_CR_EXPECTED: "a line before the answer's body does not end with CR LF",
  HPE_LF_EXPECTED: "a line before the answer's body does not end with CR LF",
  HPE_INVALID_HEADER_TOKEN:
    "a header of the answer lacks its colon, or has a space before it, a line break or a character that HTTP forbids",
  HPE_INVALID_CONTENT_LENGTH: "the answer's Content-Length is not a number, or came with Transfer-Encoding",
  HPE_UNEXPECTED_CONTENT_LENGTH: "the answer has two Content-Length headers, or one with Transfer-Encoding",
  HPE_INVALID_TRANSFER_ENCODING: "the answer's Transfer-Encoding came with Content-Length, or is not chunked",
  HPE_INVALID_CHUNK_SIZE: "the size of a chunk of the answer's body is not a hexadecimal number",
  HPE_STRICT: "a chunk of the answer's body is not as long as announced",
  HPE_HEADER_OVERFLOW: "the answer's headers are too long",
};

function describeCause(error: unknown): string {
  const cause = findCause(error);
  if (!(cause instanceof Error)) return String(cause);
  const unreadable = UNREADABLE_ANSWERS[findCode(cause)];
  if (unreadable !== undefined) return unreadable;
  if (cause.message === "socket hang up") return CLOSED_UNANSWERED;
  const { syscall, hostname, code } = cause as NodeJS.ErrnoException & { hostname?: string };
  if (syscall === "getaddrinfo") return `the name ${hostname} cannot be resolved (${code})`;
  if (/^(read|write) (ECONNRESET|EPIPE|ECONNABORTED)$/.test(cause.message)) return RESET_UNANSWERED;
  // OpenSSL reports a line of addresses and file names; its reason is the part a person can use.
  const reason = /:SSL routines:[^:]*:([^:]+):/.exec(cause.message)?.[1];
  if (/wrong version number|packet length too long/.test(reason ?? ""))
    return `${reason}: the port speaks plain HTTP, so write http:// in place of https://`;
  return reason ?? (cause.message === "" ? cause.name : cause.message);
}
