import { type Envelope, spellCode, toCodeInB } from "../../engine/contract/envelopes.ts";
import { CATALOGUE, type DetailSource, type ErrorCode } from "../../engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../../engine/contract/operation.ts";
import { findEndpointAssumption } from "../../engine/contract/provenance.ts";
import { listRefusals, type Refusal } from "../../engine/contract/refusals.ts";
import { checkContent, checkWellFormed, isMasked, toExcerpt } from "./check-answer.ts";
import { READING_REFUSALS, type RefusalCase, WRITING_REFUSALS } from "./refusal-cases.ts";
import type { Exchange } from "./target.ts";
import { isTimestamp } from "./timestamps.ts";
import type { Verdict } from "./verdict.ts";

interface ExpectedRefusal
  extends Pick<RefusalCase, "code" | "assumption" | "codeAssumption" | "detailsAssumption"> {
  /** Details that the reference or the assumption names. */
  details?: Readonly<Record<string, unknown>>;
  /** Replaces the operation's own envelope (transport and routes). */
  envelope?: Envelope;
}

/** Checks that a request was refused with one code of the catalogue, in its operation's envelope. */
export function checkRefusal(verdict: Verdict, exchange: Exchange, expected: ExpectedRefusal): void {
  const { operation, status } = exchange;
  const assumedEndpoint = operation && findEndpointAssumption(operation);
  const assumption = expected.assumption ?? assumedEndpoint;
  const expectedStatus = CATALOGUE[expected.code].status;
  if (operation?.openapi !== undefined)
    return void checkDescribedRefusal(verdict, exchange, {
      statuses: [expectedStatus],
      assumption: expected.assumption,
    });
  if (!checkWellFormed(verdict, exchange)) return;
  const requestLine = `${exchange.method} ${exchange.path}`;
  // The reference requires 401, 403 and 404 (section 5, 7.4): a service that grants such a request fails, even if the form
  // of the refusal is an assumption. If the whole endpoint is one, granting instead of 403 or 404 only differs.
  const isGranted = operation !== undefined && status < 400 && [401, 403, 404].includes(expectedStatus);
  const grantAssumption = expectedStatus === 401 ? undefined : assumedEndpoint;
  const problem = `${requestLine} answers ${status} instead of ${expectedStatus} ${expected.code}`;
  if (!verdict.expect(status === expectedStatus, problem, isGranted ? grantAssumption : assumption)) {
    checkStatusOfCode(verdict, exchange);
    return;
  }
  const envelope = expected.envelope ?? operation?.envelope ?? "A";
  const actualEnvelope = checkEnvelope(verdict, exchange, { envelope, assumption });
  if (actualEnvelope === undefined || actualEnvelope === "C") return;
  const code = spellCode(expected.code, actualEnvelope, operation);
  const actualCode = exchange.json.error.code as unknown;
  verdict.expect(
    actualCode === code,
    `${requestLine} has the code ${toExcerpt(actualCode)} instead of ${code}`,
    assumption ?? expected.codeAssumption,
  );
  if (actualEnvelope !== "A") return;
  const details = (exchange.json.error.details ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(expected.details ?? {})) {
    const fits = details[name] !== undefined && String(details[name]) === String(value);
    const detailProblem = `${exchange.path}: details.${name} is ${toExcerpt(details[name])} instead of ${toExcerpt(value)}`;
    verdict.expect(fits, detailProblem, assumption ?? expected.detailsAssumption);
  }
}

/** Checks a refusal of an operation of a document: one of these statuses, and a body that fits if it has a schema. */
export function checkDescribedRefusal(
  verdict: Verdict,
  exchange: Exchange,
  { statuses, assumption }: { statuses: readonly number[]; assumption?: string | undefined },
): void {
  const { status, method, path } = exchange;
  if (!checkWellFormed(verdict, exchange)) return;
  const problem = `${method} ${path} answers ${status} instead of ${statuses.join(" or ")}`;
  if (!verdict.expect(statuses.includes(status), problem, assumption)) return;
  const documented = exchange.operation!.openapi!.answer(status);
  if (documented !== undefined) checkContent(verdict, exchange, documented);
}

/** Checks a 401 for missing or invalid credentials. For the history of assistants (section 4.8), the reference shows a code only with 404. */
export function checkUnauthenticated(verdict: Verdict, exchange: Exchange): void {
  const codeAssumption = exchange.operation!.id === "assistants.list_history" ? "G03" : undefined;
  checkRefusal(verdict, exchange, { code: "AUTHENTICATION_REQUIRED", codeAssumption });
}

/** Statuses of transport errors, which come in envelope A for every operation (G09). */
const TRANSPORT_STATUSES = new Set([400, 405, 413, 415]);
/** The assumption behind a refusal that no section shows. */
const ASSUMPTION_BY_STATUS: Readonly<Record<number, string>> = {
  401: "G03",
  403: "G03",
  404: "G27",
  422: "G08",
  429: "G05",
};

/** Checks a refusal that no check provoked: its operation must have this envelope, code and details. Returns the code. */
export function checkAnyRefusal(verdict: Verdict, exchange: Exchange): string | undefined {
  const { status, method, path } = exchange;
  const operation = exchange.operation!;
  if (operation.openapi !== undefined)
    return void checkDescribedRefusal(verdict, exchange, { statuses: [status] });
  if (status === 401) return void checkUnauthenticated(verdict, exchange);
  const isTransportError = TRANSPORT_STATUSES.has(status);
  const assumption =
    findEndpointAssumption(operation) ?? (isTransportError ? "G09" : status === 429 ? "G05" : undefined);
  const envelope = isTransportError ? "A" : (operation.envelope ?? "A");
  const actualEnvelope = checkEnvelope(verdict, exchange, { envelope, assumption });
  if (actualEnvelope === undefined || actualEnvelope === "C") return undefined;
  const actualCode = String(exchange.json.error.code);
  const codesOfStatus = listErrorCodes(operation).filter((code) => CATALOGUE[code].status === status);
  const code = codesOfStatus.find((one) => spellCode(one, actualEnvelope, operation) === actualCode);
  const spelledCodes = codesOfStatus.map((one) => spellCode(one, actualEnvelope, operation)).join(", ");
  // If a section shows the only code of this status, another code departs from the reference.
  const documentedCase = codesOfStatus.length === 1 ? findCase(operation.id, codesOfStatus[0]!) : undefined;
  const isSpecified =
    documentedCase !== undefined &&
    documentedCase.assumption === undefined &&
    documentedCase.codeAssumption === undefined;
  const problem = `${method} ${path} answers ${status} with the code ${toExcerpt(actualCode)}, not ${spelledCodes}`;
  verdict.expect(
    code !== undefined,
    problem,
    assumption ?? (isSpecified ? undefined : ASSUMPTION_BY_STATUS[status]),
  );
  if (code !== undefined && actualEnvelope === "A") checkDetails(verdict, exchange, { code, assumption });
  return actualCode;
}

/** Whether the operation may refuse with a status. */
export function refusesWith(operation: AnyOperation, status: number): boolean {
  if (status >= 400 && operation.openapi?.answer(status) !== undefined) return true;
  return listErrorCodes(operation).some((code) => CATALOGUE[code].status === status);
}

/** Checks details by the refusal with this code that they fit best, if the operation has several. */
function checkDetails(
  verdict: Verdict,
  exchange: Exchange,
  { code, assumption }: { code: ErrorCode; assumption: string | undefined },
): void {
  const operation = exchange.operation!;
  const details = (exchange.json.error.details ?? {}) as Record<string, unknown>;
  const refusals = listRefusals(operation).filter((one) => one.code === code);
  const found = refusals.map((refusal) => compareDetails(details, refusal, exchange));
  const countProblems = (one: (typeof found)[number]) => one.filter(({ problem }) => problem !== null).length;
  const best = found.toSorted((a, b) => countProblems(a) - countProblems(b))[0] ?? [];
  const documentedCase = findCase(operation.id, code);
  for (const { name, problem } of best) {
    const assumedDetail = assumption ?? findAssumedDetail(name, documentedCase, exchange.status);
    verdict.expect(problem === null, `${exchange.path}: ${problem}`, assumedDetail);
  }
}

/** The assumption that a detail rests on; undefined if the reference shows the detail. */
function findAssumedDetail(
  name: string,
  documentedCase: RefusalCase | undefined,
  status: number,
): string | undefined {
  const isDocumented =
    documentedCase?.details?.includes(name) === true ||
    Object.hasOwn(documentedCase?.otherDetails ?? {}, name);
  return isDocumented
    ? (documentedCase!.assumption ?? documentedCase!.detailsAssumption)
    : ASSUMPTION_BY_STATUS[status];
}

/** Each detail of a refusal, with what is wrong with it, or null. */
function compareDetails(details: Record<string, unknown>, { details: sources }: Refusal, exchange: Exchange) {
  return Object.entries(sources).map(([name, source]) => {
    const value = details[name];
    if (value === undefined) return { name, problem: `details.${name} is missing` };
    const sent = findSent(name, source, exchange);
    if (sent === undefined || isMasked(value) || isMasked(sent) || String(value) === String(sent))
      return { name, problem: null };
    return { name, problem: `details.${name} is ${toExcerpt(value)} instead of ${toExcerpt(sent)}` };
  });
}

function findSent(name: string, source: DetailSource, { sent }: Exchange): unknown {
  const names =
    source === "sent" ? [name] : typeof source === "object" && "sent" in source ? source.sent : [];
  const values = { ...(sent.body as object | undefined), ...sent.query, ...sent.params } as Record<
    string,
    unknown
  >;
  return names.map((one) => values[one]).find((value) => value !== undefined);
}

/** Among the refusals that a live run provokes, the first with this code that the reference shows, else the first. */
function findCase(operation: string, code: ErrorCode): RefusalCase | undefined {
  const cases = [...READING_REFUSALS, ...WRITING_REFUSALS].filter(
    (one) => one.operation === operation && one.code === code,
  );
  return cases.find(({ assumption }) => assumption === undefined) ?? cases[0];
}

/** Checks the status of an error whose code is in section 7.4, which states it. */
export function checkStatusOfCode(
  verdict: Verdict,
  { json, status, operation, method, path }: Exchange,
): void {
  const actualCode: unknown = json?.error?.code;
  const entries = Object.entries(CATALOGUE).filter(([, { source }]) => source === "7.4");
  const entry = entries.find(
    ([code]) => code === actualCode || toCodeInB(code, operation?.spellings) === actualCode,
  );
  if (entry === undefined) return;
  const [, { status: expectedStatus }] = entry;
  const problem = `${method} ${path} answers ${status} with the code ${actualCode}, which has ${expectedStatus}`;
  verdict.expect(expectedStatus === status, problem);
}

/**
 * Checks that an error is in this envelope, and returns the one that it is in; undefined if it is in none of section 7.
 * Envelope C in a 401 or 403 only differs from an assumption (G06), and does not fail.
 */
function checkEnvelope(
  verdict: Verdict,
  exchange: Exchange,
  { envelope, assumption }: { envelope: Envelope; assumption: string | undefined },
): Envelope | undefined {
  if (!checkWellFormed(verdict, exchange)) return undefined;
  const { json, status, method, path, text } = exchange;
  const actualEnvelope = findEnvelope(json);
  const requestLine = `${method} ${path} (${status})`;
  if (actualEnvelope !== envelope) {
    const description =
      actualEnvelope === undefined
        ? `no envelope of section 7: ${toExcerpt(text)}`
        : `envelope ${actualEnvelope}`;
    const isAssumed = actualEnvelope === "C" && (status === 401 || status === 403);
    verdict.expect(
      false,
      `${requestLine} is in ${description}, instead of envelope ${envelope}`,
      isAssumed ? "G06" : (assumption ?? (actualEnvelope && findAssumedEnvelope(exchange))),
    );
    if (actualEnvelope === undefined) return undefined;
  }
  checkStatusOfCode(verdict, exchange);
  for (const [fits, problem, assumedField] of FIELD_CHECKS[actualEnvelope](exchange))
    verdict.expect(fits, `${path} (${status}): ${problem}`, assumedField);
  return actualEnvelope;
}

/** The assumption behind an operation's envelope. Without an operation, the error is about a route (G04). */
function findAssumedEnvelope({ operation }: Exchange): string | undefined {
  return operation ? (findEndpointAssumption(operation) ?? operation.assumed?.envelope) : "G04";
}

function findEnvelope(json: unknown): Envelope | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  if ("detail" in json && "status_code" in json) return "C";
  const error = (json as { error?: unknown }).error;
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return "success" in json ? "A" : "B";
}

const ERROR_TYPES: Readonly<Record<Envelope, Readonly<Record<number, string>>>> = {
  A: { 401: "authentication_error", 403: "authorization_error" },
  B: { 401: "authentication_error", 403: "permission_error", 404: "not_found_error" },
  C: { 401: "AuthenticationError", 403: "PermissionError" },
};

/** Section 7 states the fields of each envelope, even if the envelope of an error is an assumption. */
const FIELD_CHECKS: Record<
  Envelope,
  (exchange: Exchange) => [fits: boolean, problem: string, assumption?: string][]
> = {
  A({ json: { success, error }, status, headers }) {
    const { code, type, trace_id, timestamp } = error;
    const request_id = headers.get("x-request-id");
    // Section 7.1 names three types, but none for a 5xx.
    const types = [
      "client_error",
      ...Object.values(ERROR_TYPES.A),
      ...(status >= 500 ? ["server_error"] : []),
    ];
    const expectedType = ERROR_TYPES.A[status];
    return [
      [success === false, `success is ${toExcerpt(success)} in an error`],
      [/^[A-Z][A-Z0-9_]*$/.test(String(code)), `error.code ${toExcerpt(code)} is not upper-case`],
      [isText(error.message), "error.message is not text"],
      [error.status === status, `error.status is ${toExcerpt(error.status)}, the answer's status ${status}`],
      [
        expectedType === undefined ? types.includes(type) : type === expectedType,
        `error.type is ${toExcerpt(type)}, not ${expectedType ?? `one of ${types.join(", ")}`}`,
      ],
      [typeof error.details === "object" && error.details !== null, "error.details is not an object"],
      [isText(trace_id), "error.trace_id is not text"],
      [isTimestamp(timestamp), `error.timestamp is ${toExcerpt(timestamp)}, not a timestamp in UTC`],
      [isText(error.system_message), "error.system_message is missing", "G29"],
      [request_id === null || trace_id === request_id, "error.trace_id differs from x-request-id", "G29"],
    ];
  },
  B: ({ json: { error }, status }) => [
    [isText(error.message), "error.message is not text"],
    checkType("error.type", error.type, ERROR_TYPES.B[status]),
  ],
  C: ({ json, status }) => [
    [isText(json.detail), "detail is not text"],
    [json.status_code === status, `status_code is ${json.status_code}`],
    checkType("error_type", json.error_type, ERROR_TYPES.C[status]),
  ],
};

function checkType(name: string, type: unknown, expectedType: string | undefined): [boolean, string] {
  return [
    expectedType === undefined ? isText(type) : type === expectedType,
    `${name} is ${toExcerpt(type)}, not ${expectedType ?? "text"}`,
  ];
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
