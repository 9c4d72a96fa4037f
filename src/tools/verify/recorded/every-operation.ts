import { findEndpointAssumption } from "../../../engine/contract/provenance.ts";
import type { Check, Observation } from "../check.ts";
import { checkSuccess, hasSucceeded, isDeclaredSuccess, toExcerpt } from "../check-answer.ts";
import { checkAnyRefusal, checkStatusOfCode, refusesWith } from "../check-refusal.ts";
import { isRefusedOnlyOutOfBounds } from "../checks/listings.ts";
import type { Contract } from "../contract.ts";
import { listMalformedFields } from "../malformed-fields.ts";
import type { CheckFamily } from "../report.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";

export type RecordedCheck = Omit<Check, "run" | "observe"> & { observe: Observation };

type ExchangeCheck = (verdict: Verdict, exchange: Exchange) => void;

const CHECKS: readonly [name: string, family: CheckFamily, title: string, checkExchange: ExchangeCheck][] = [
  ["answer", "answers", "answers as documented", checkAnswer],
  ["refusals", "refusals", "refuses in its envelope, with one of its codes and their details", checkRefusals],
  ["malformed", "refusals", "answers 422 to malformed values and names the field", checkMalformed],
  ["no-credentials", "credentials", "refuses a request without credentials", checkCredentials],
];

export function createOperationChecks({ operations }: Contract): RecordedCheck[] {
  return operations.flatMap(({ id, section, credentials }) =>
    CHECKS.filter(([, family]) => credentials !== false || family !== "credentials").map(
      ([name, family, title, checkExchange]): RecordedCheck => ({
        id: `${id}/${name}`,
        family,
        section,
        title: `${id} ${title}`,
        observe: { operation: id, begin: () => checkExchange },
      }),
    ),
  );
}

function checkAnswer(verdict: Verdict, exchange: Exchange): void {
  const { status, method, path, sent, text } = exchange;
  const operation = exchange.operation!;
  if (status === 304) {
    const isConditional = sent.headers.has("if-none-match") || sent.headers.has("if-modified-since");
    // A browser may record the body from its cache, which counts as not whole, and leave out the condition of the request.
    if (exchange.recorded!.hasWholeBodies)
      verdict.expect(isConditional, `${method} ${path} answers 304 to a request without a condition`);
    return;
  }
  if (hasSucceeded(exchange)) return void checkSuccess(verdict, exchange);
  if (isDeclaredSuccess(exchange) || refusesWith(operation, status) || isNotYetOffered(exchange)) return;
  const problem = `${method} ${path} answers ${status}, which is not documented: ${toExcerpt(text)}`;
  verdict.expect(false, problem, status < 500 ? findEndpointAssumption(operation) : undefined);
}

/** Whether it is the announced operation, which production answers with 404 (section 4.18). */
function isNotYetOffered({ operation, status }: Exchange): boolean {
  return status === 404 && operation!.id === "models.list_for_organization";
}

function checkRefusals(verdict: Verdict, exchange: Exchange): void {
  const { status, recorded, operation } = exchange;
  if (status < 400 || !recorded!.hasWholeBodies) return;
  if (refusesWith(operation!, status)) checkAnyRefusal(verdict, exchange);
  else checkStatusOfCode(verdict, exchange);
}

function checkMalformed(verdict: Verdict, exchange: Exchange): void {
  const { operation, status, method, path, json, recorded } = exchange;
  const fields = listMalformedFields(exchange);
  const isDescribed = operation!.openapi !== undefined;
  const isRefused = status === 422 || (isDescribed && status === 400);
  if (fields.length === 0) return void checkAllowed(verdict, exchange);
  if (!isRefused && !hasSucceeded(exchange)) return;
  // 4.17 shows this refusal for one field; for all others it is an assumption.
  const assumption = operation!.id === "usage.retrieve_limits" && fields[0] === "month" ? undefined : "G08";
  const problem = `${method} ${path} answers ${status} although the value of ${fields.join(", ")} is not allowed`;
  const namesField = !isDescribed && operation!.envelope !== "C" && recorded!.hasWholeBodies;
  if (!verdict.expect(isRefused, problem, assumption) || !namesField) return;
  const field = json?.error?.details?.field ?? json?.error?.param;
  const containsField = (malformed: string) =>
    field.startsWith(malformed) && /^(\W|$)/.test(field.slice(malformed.length));
  const isNamed = typeof field === "string" && fields.some(containsField);
  verdict.expect(
    isNamed,
    `${method} ${path} names the field ${toExcerpt(field)}, not ${fields.join(", ")}`,
    assumption,
  );
}

/** If no value is malformed: a refusal must not name a number, as it is within its bounds. */
function checkAllowed(verdict: Verdict, { operation, sent, status, method, path, json }: Exchange): void {
  const field = json?.error?.details?.field ?? json?.error?.param;
  if (status !== 422 || !isRefusedOnlyOutOfBounds(operation!, field)) return;
  const value = { ...(sent.body as Record<string, unknown> | undefined), ...sent.query }[field];
  if (value === undefined) return;
  const problem = `${method} ${path} answers 422 for ${field} ${value}, which is allowed`;
  const assumption = field === "year" ? "G33" : operation!.id === "connector_jobs.list" ? "G14" : undefined;
  verdict.expect(false, problem, assumption);
}

const CREDENTIALS = ["api-key", "x-api-key", "authorization"];

export function hasCredentials({ sent, operation }: Pick<Exchange, "sent" | "operation">): boolean {
  if (CREDENTIALS.some((name) => sent.headers.has(name))) return true;
  const { readCredential } = operation!;
  if (readCredential === undefined) return false;
  // A recording masks the names of cookies too.
  if (sent.headers.has("cookie")) return true;
  const search = new URLSearchParams(sent.query).toString();
  return readCredential({ headers: Object.fromEntries(sent.headers), search }) !== undefined;
}

function checkCredentials(verdict: Verdict, exchange: Exchange): void {
  const { method, path, status, authenticated } = exchange;
  if (authenticated) return;
  const problem = `${method} ${path} answers ${status} without credentials`;
  verdict.expect(status >= 400 && status < 500, problem);
}
