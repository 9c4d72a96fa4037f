import { ForbiddenAddressError } from "./resolve-target.ts";

/** Why an attempt got no complete answer. */
export type OutboundErrorKind =
  | "timeout"
  | "refused"
  | "reset"
  | "incomplete"
  | "unreachable"
  | "dns"
  | "tls"
  | "forbidden_address"
  | "protocol"
  | "bad_url"
  | "unsendable"
  | "aborted"
  | "left"
  | "network";

/** The result of an attempt without a complete answer (G24: response_code 0). */
export interface Failure {
  response_code: 0;
  headers: Record<string, string | string[]>;
  body: Buffer;
  truncated: false;
  error: { kind: OutboundErrorKind; message: string };
}

export function toFailure(kind: OutboundErrorKind, message: string): Failure {
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
export function classifyError(error: unknown): Failure {
  if (error instanceof ForbiddenAddressError) return toFailure("forbidden_address", error.message);
  const code = findCode(error);
  const kind = KINDS_BY_CODE.find(([pattern]) => pattern.test(code))?.[1] ?? "network";
  return toFailure(kind, describeCause(error));
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

function describeCause(error: unknown): string {
  const cause = findCause(error);
  if (!(cause instanceof Error)) return String(cause);
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
