import { type AnyOperation, listSuccesses } from "../../../engine/contract/operation.ts";
import { assumedEndpoint } from "../../../engine/contract/provenance.ts";
import type { Check, Observation } from "../check.ts";
import type { Contract } from "../contract.ts";
import { excerpt } from "../judge-body.ts";
import { judgeSuccess, succeeded } from "../judge-success.ts";
import type { Family } from "../report.ts";
import type { Exchange } from "../target.ts";
import type { Verdict } from "../verdict.ts";
import { malformedFields } from "./malformed.ts";
import { judgeRecordedRefusal, refusalStatuses } from "./refusals.ts";

export type Recorded = Omit<Check, "run" | "observe"> & { observe: Observation };

/** What is judged of every operation's recorded answers. */
export function everyOperation({ operations }: Contract): Recorded[] {
  const check = (
    operation: AnyOperation,
    { name, family, title }: { name: string; family: Family; title: string },
    judge: (verdict: Verdict, exchange: Exchange) => void,
  ): Recorded => ({
    id: `${operation.id}/${name}`,
    family,
    section: operation.section,
    title: `${operation.id} ${title}`,
    observe: { operation: operation.id, begin: () => judge },
  });
  return operations.flatMap((operation) => [
    check(operation, { name: "answer", family: "answers", title: "answers as documented" }, judgeAnswer),
    check(
      operation,
      {
        name: "refusals",
        family: "refusals",
        title: "refuses in its envelope, with a code and details that it has",
      },
      judgeRefusals,
    ),
    check(
      operation,
      { name: "malformed", family: "refusals", title: "answers 422 to malformed values and names the field" },
      judgeMalformed,
    ),
    ...(operation.credentials === false
      ? []
      : [
          check(
            operation,
            { name: "no-credentials", family: "credentials", title: "answers 401 without credentials" },
            judgeCredentials,
          ),
        ]),
  ]);
}

function judgeAnswer(verdict: Verdict, exchange: Exchange): void {
  const { status, method, path, asked, text } = exchange;
  const operation = exchange.operation!;
  if (status === 304) {
    const conditional = asked.headers.has("if-none-match") || asked.headers.has("if-modified-since");
    verdict.expect(conditional, `${method} ${path} answers 304 to a request without a condition`);
    verdict.expect(text === "", `${method} ${path}: a 304 has a body`);
    return;
  }
  const declared = listSuccesses(operation).some((success) => success.status === status);
  if (declared || succeeded(exchange)) return void judgeSuccess(verdict, exchange);
  if (refusalStatuses(operation).has(status) || isPending(exchange)) return;
  const problem = `${method} ${path} answers ${status}, which it does not document: ${excerpt(text)}`;
  verdict.expect(false, problem, status < 500 ? assumedEndpoint(operation) : undefined);
}

/** 4.18: announced, and a 404 in production. */
function isPending({ operation, status }: Exchange): boolean {
  return status === 404 && operation!.id === "models.list_for_organization";
}

function judgeRefusals(verdict: Verdict, exchange: Exchange): void {
  const { status, recorded } = exchange;
  const known = status >= 400 && refusalStatuses(exchange.operation!).has(status);
  if (known && recorded!.whole) judgeRecordedRefusal(verdict, exchange);
}

function judgeMalformed(verdict: Verdict, exchange: Exchange): void {
  const { operation, asked, status, method, path, json, recorded } = exchange;
  const fields = malformedFields(operation!, asked);
  if (fields.length === 0 || (status !== 422 && !succeeded(exchange))) return;
  // 4.17 shows this refusal for its own field; elsewhere it is assumed.
  const gap = operation!.id === "usage.retrieve_limits" && fields[0] === "month" ? undefined : "G08";
  const told = `${method} ${path} answers ${status} although ${fields.join(", ")} cannot be`;
  if (!verdict.expect(status === 422, told, gap) || !recorded!.whole) return;
  const field = json?.error?.details?.field ?? json?.error?.param;
  const named = typeof field === "string" && fields.some((one) => one === field || field.startsWith(one));
  verdict.expect(named, `${method} ${path} names the field ${excerpt(field)}, not ${fields.join(", ")}`, gap);
}

const CREDENTIALS = ["api-key", "x-api-key", "authorization"];

export function hasCredentials({ asked }: Pick<Exchange, "asked">): boolean {
  return CREDENTIALS.some((name) => asked.headers.has(name));
}

function judgeCredentials(verdict: Verdict, exchange: Exchange): void {
  const { method, path, status } = exchange;
  if (hasCredentials(exchange) || exchange.authenticated) return;
  const problem = `${method} ${path} answers ${status} without credentials`;
  verdict.expect(status === 401 || (status >= 400 && status < 500), problem);
}
