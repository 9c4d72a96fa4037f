import { codeInB, type Envelope } from "../../engine/contract/envelopes.ts";
import { CATALOGUE, type ErrorCode } from "../../engine/contract/errors.ts";
import { listErrorCodes } from "../../engine/contract/operation.ts";
import { assumedEndpoint, assumedEnvelope } from "../../engine/contract/provenance.ts";
import { excerpt, judgeWire } from "./judge-answer.ts";
import type { Exchange } from "./target.ts";
import type { Basis, Verdict } from "./verdict.ts";

export interface Expected {
  code: ErrorCode;
  /** Details that the reference names, or the assumption does. */
  details?: Readonly<Record<string, unknown>>;
  /** The assumption that makes it this refusal. */
  gap?: Basis;
  /** The assumption that only the code rests on. */
  codeGap?: Basis;
  /** The assumption that only its details rest on. */
  detailsGap?: Basis;
  /** Whatever the operation's own is (transport and routes). */
  envelope?: Envelope;
}

/** Judges that a request was refused with one code of the catalogue, in its operation's envelope. */
export function judgeRefusal(verdict: Verdict, exchange: Exchange, expected: Expected): void {
  const { operation, status } = exchange;
  const gap = expected.gap ?? (operation && assumedEndpoint(operation));
  const wanted = CATALOGUE[expected.code].status;
  if (!judgeWire(verdict, exchange)) return;
  const about = `${exchange.method} ${exchange.path}`;
  if (
    !verdict.expect(
      status === wanted,
      `${about} answers ${status} instead of ${wanted} ${expected.code}`,
      gap,
    )
  ) {
    return;
  }
  const envelope = expected.envelope ?? operation?.envelope ?? "A";
  const found = judgeEnvelope(verdict, exchange, { envelope, gap });
  if (found === undefined || found === "C") return;
  const code = found === "B" ? codeInB(expected.code, operation?.spellings) : expected.code;
  const shown = exchange.json.error.code as unknown;
  verdict.expect(
    shown === code,
    `${about} has the code ${excerpt(shown)} instead of ${code}`,
    gap ?? expected.codeGap,
  );
  if (found === "A") judgeDetails(verdict, exchange, expected, gap);
}

function judgeDetails(verdict: Verdict, { path, json }: Exchange, expected: Expected, gap: Basis): void {
  const details = (json.error.details ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(expected.details ?? {})) {
    const fits = details[name] !== undefined && String(details[name]) === String(value);
    const problem = `${path}: details.${name} is ${excerpt(details[name])} instead of ${excerpt(value)}`;
    verdict.expect(fits, problem, gap ?? expected.detailsGap);
  }
}

/** Any refusal that the operation declares for this status; the code that it carries. */
export function judgeAnyRefusal(verdict: Verdict, exchange: Exchange): string | undefined {
  const operation = exchange.operation!;
  const gap = assumedEndpoint(operation);
  const found = judgeEnvelope(verdict, exchange, { envelope: operation.envelope ?? "A", gap });
  if (found === undefined || found === "C") return undefined;
  const shown = String(exchange.json.error.code);
  const declared = listErrorCodes(operation)
    .filter((code) => CATALOGUE[code].status === exchange.status)
    .map((code) => (found === "B" ? codeInB(code, operation.spellings) : code));
  // Which of several codes answers a missing or foreign object is G03's where the section does not say.
  const fits = declared.includes(shown);
  const problem = `${exchange.method} ${exchange.path} answers ${exchange.status} with the code ${excerpt(shown)}, not one of ${declared.join(", ")}`;
  verdict.expect(fits, problem, gap ?? "G03");
  return shown;
}

/**
 * The envelope that an error came in, if it is one of section 7 that may stand here.
 * Envelope C for a 401 or 403 of any operation is what G06 leaves open.
 */
export function judgeEnvelope(
  verdict: Verdict,
  exchange: Exchange,
  { envelope, gap }: { envelope: Envelope; gap: Basis },
): Envelope | undefined {
  if (!judgeWire(verdict, exchange)) return undefined;
  const { json, status, method, path, text } = exchange;
  const found = findEnvelope(json);
  const about = `${method} ${path} (${status})`;
  if (found !== envelope) {
    const guide = found === "C" && (status === 401 || status === 403) ? "G06" : undefined;
    const what = found === undefined ? `no envelope of section 7: ${excerpt(text)}` : `envelope ${found}`;
    // Without an operation it is about a route, which G04 describes.
    const own = exchange.operation === undefined ? "G04" : assumedEnvelope(exchange.operation);
    const other = found === undefined ? undefined : own;
    verdict.expect(false, `${about} is in ${what}, instead of envelope ${envelope}`, guide ?? gap ?? other);
    if (found === undefined) return undefined;
  }
  JUDGES[found](verdict, exchange, gap);
  return found;
}

function findEnvelope(json: unknown): Envelope | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  if ("detail" in json && "status_code" in json) return "C";
  const error = (json as { error?: unknown }).error;
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return "success" in json ? "A" : "B";
}

type Judge = (verdict: Verdict, exchange: Exchange, gap: Basis) => void;

const TYPES_OF_A = ["client_error", "authentication_error", "authorization_error"];
const TYPES_OF_B: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
};
const TYPES_OF_C: Readonly<Record<number, string>> = { 401: "AuthenticationError", 403: "PermissionError" };

const JUDGES: Record<Envelope, Judge> = {
  A(verdict, { json, status, path, headers }, gap) {
    const { success, error } = json;
    const expect = (fits: boolean, problem: string, own: Basis = gap) =>
      verdict.expect(fits, `${path} (${status}): ${problem}`, own);
    expect(success === false, `success is ${excerpt(success)} in an error`);
    expect(
      /^[A-Z][A-Z0-9_]*$/.test(String(error.code)),
      `error.code ${excerpt(error.code)} is not upper-case`,
    );
    expect(isText(error.message), "error.message is no text");
    expect(
      error.status === status,
      `error.status is ${excerpt(error.status)}, the answer's status ${status}`,
    );
    // Section 7.1 names three types; what a 5xx carries is not among them.
    const types = status >= 500 ? [...TYPES_OF_A, "server_error"] : TYPES_OF_A;
    expect(types.includes(error.type), `error.type ${excerpt(error.type)} is not one of ${types.join(", ")}`);
    expect(typeof error.details === "object" && error.details !== null, "error.details is no object");
    expect(isText(error.trace_id), "error.trace_id is no text");
    const time = Date.parse(String(error.timestamp));
    expect(isText(error.timestamp) && Number.isFinite(time), "error.timestamp is no timestamp");
    expect(isText(error.system_message), "error.system_message is missing", "G29");
    const request_id = headers.get("x-request-id");
    if (request_id !== null)
      expect(error.trace_id === request_id, "error.trace_id differs from x-request-id", "G29");
  },
  B(verdict, { json: { error }, status, path }, gap) {
    verdict.expect(isText(error.message), `${path} (${status}): error.message is no text`, gap);
    const type = TYPES_OF_B[status];
    const fits = type === undefined ? isText(error.type) : error.type === type;
    verdict.expect(fits, `${path} (${status}): error.type is ${excerpt(error.type)}, not ${type}`, gap);
  },
  C(verdict, { json, status, path }, gap) {
    verdict.expect(isText(json.detail), `${path} (${status}): detail is no text`, gap);
    verdict.expect(
      json.status_code === status,
      `${path} (${status}): status_code is ${json.status_code}`,
      gap,
    );
    const type = TYPES_OF_C[status];
    const fits = type === undefined ? isText(json.error_type) : json.error_type === type;
    verdict.expect(fits, `${path} (${status}): error_type is ${excerpt(json.error_type)}, not ${type}`, gap);
  },
};

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
