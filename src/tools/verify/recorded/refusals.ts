import { codeInB } from "../../../engine/contract/envelopes.ts";
import type { DetailSource } from "../../../engine/contract/errors.ts";
import { CATALOGUE, type ErrorCode } from "../../../engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../../../engine/contract/operation.ts";
import { assumedEndpoint } from "../../../engine/contract/provenance.ts";
import { listRefusals, type Refusal } from "../../../engine/contract/refusals.ts";
import { type Case, READING_REFUSALS, WRITING_REFUSALS } from "../checks/refusals.ts";
import { excerpt, isMasked } from "../judge-answer.ts";
import { judgeEnvelope, judgeRefusal } from "../judge-refusal.ts";
import type { Exchange } from "../target.ts";
import type { Basis, Verdict } from "../verdict.ts";

/** G09: transport errors come in envelope A, whatever the operation's own is. */
const TRANSPORT = new Set([400, 405, 413, 415]);
/** The assumption that a refusal rests on where no section shows it. */
const BY_STATUS: Readonly<Record<number, string>> = {
  401: "G03",
  403: "G03",
  404: "G27",
  422: "G08",
  429: "G05",
};

/** A refusal that was not provoked by a check: envelope, code and details must be ones that its operation has. */
export function judgeRecordedRefusal(verdict: Verdict, exchange: Exchange): void {
  const { status, json } = exchange;
  const operation = exchange.operation!;
  if (status === 401) {
    // 4.8 shows its own code for a 404 only.
    const codeGap = operation.id === "assistants.list_history" ? "G03" : undefined;
    judgeRefusal(verdict, exchange, { code: "AUTHENTICATION_REQUIRED", codeGap });
    return;
  }
  const transport = TRANSPORT.has(status);
  const gap = assumedEndpoint(operation) ?? (transport ? "G09" : status === 429 ? "G05" : undefined);
  const envelope = transport ? "A" : (operation.envelope ?? "A");
  const found = judgeEnvelope(verdict, exchange, { envelope, gap });
  if (found === undefined || found === "C") return;
  const shown = String(json.error.code);
  const declared = listErrorCodes(operation).filter((code) => CATALOGUE[code].status === status);
  const spelled = (code: ErrorCode) => (found === "B" ? codeInB(code, operation.spellings) : code);
  const code = declared.find((one) => spelled(one) === shown);
  const words = declared.map(spelled).join(", ");
  const problem = `${exchange.method} ${exchange.path} answers ${status} with the code ${excerpt(shown)}, not ${words}`;
  // Where a section shows the one code of this status, another one departs from it.
  const only = declared.length === 1 ? shownCase(operation.id, declared[0]!) : undefined;
  const specified = only !== undefined && only.gap === undefined && only.codeGap === undefined;
  verdict.expect(code !== undefined, problem, gap ?? (specified ? undefined : BY_STATUS[status]));
  if (code !== undefined && found === "A") judgeDetails(verdict, exchange, { code, gap });
}

function judgeDetails(
  verdict: Verdict,
  exchange: Exchange,
  { code, gap }: { code: ErrorCode; gap: Basis },
): void {
  const operation = exchange.operation!;
  const details = (exchange.json.error.details ?? {}) as Record<string, unknown>;
  const reasons = listRefusals(operation).filter((one) => one.code === code);
  const problems = reasons.map((reason) => problemsWith(details, reason, exchange));
  const fewest = problems.toSorted((a, b) => a.length - b.length)[0] ?? [];
  const shown = shownCase(operation.id, code);
  for (const { name, problem } of fewest)
    verdict.expect(false, `${exchange.path}: ${problem}`, gap ?? findBasis(name, shown, exchange.status));
  if (fewest.length === 0) verdict.expect(true, "", gap ?? findBasis("", shown, exchange.status));
}

/** The section where it names the detail; else the assumption that does. */
function findBasis(name: string, shown: Case | undefined, status: number): Basis {
  const named = shown?.details?.includes(name) === true || Object.hasOwn(shown?.more ?? {}, name);
  return named ? (shown!.gap ?? shown!.detailsGap) : BY_STATUS[status];
}

function problemsWith(details: Record<string, unknown>, { details: sources }: Refusal, exchange: Exchange) {
  return Object.entries(sources).flatMap(([name, source]) => {
    const value = details[name];
    if (value === undefined) return [{ name, problem: `details.${name} is missing` }];
    const sent = sentAs(name, source, exchange);
    if (sent === undefined || isMasked(value) || isMasked(sent) || String(value) === String(sent)) return [];
    return [{ name, problem: `details.${name} is ${excerpt(value)} instead of ${excerpt(sent)}` }];
  });
}

function sentAs(name: string, source: DetailSource, { asked }: Exchange): unknown {
  const names =
    source === "sent" ? [name] : typeof source === "object" && "sent" in source ? source.sent : [];
  const body = (typeof asked.body === "object" && asked.body !== null ? asked.body : {}) as Record<
    string,
    unknown
  >;
  for (const one of names) {
    const value = asked.params[one] ?? asked.query[one] ?? body[one];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Of the refusals with this code that a live run provokes, the one that the reference shows most of. */
function shownCase(operation: string, code: ErrorCode): Case | undefined {
  const own = [...READING_REFUSALS, ...WRITING_REFUSALS].filter(
    (one) => one.operation === operation && one.code === code,
  );
  return own.find(({ gap }) => gap === undefined) ?? own[0];
}

/** Statuses of an operation's refusals. */
export function refusalStatuses(operation: AnyOperation): ReadonlySet<number> {
  return new Set(listErrorCodes(operation).map((code) => CATALOGUE[code].status));
}
