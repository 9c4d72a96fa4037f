import type { DetailSource } from "../contract/error-details.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { valueAt } from "../contract/invalid-field.ts";
import type { AnyOperation, Principal } from "../contract/operation.ts";
import { refusalOf } from "../contract/refusals.ts";
import { refusedFigures, type SpendingFigures } from "../contract/spending-figures.ts";
import type { FaultFacts } from "../sandbox/fault-gate.ts";
import type { WorldReader } from "../state/transaction.ts";

/** Reads the figures of a caller, organization limit first; the composition root knows where they are. */
export type SpendingOf = (world: WorldReader, principal: Principal) => SpendingFigures[];

type Values = Readonly<Record<string, unknown>>;

interface Beside {
  /** What the rule itself says of the details. */
  given: Values;
  spending: SpendingOf;
}

export interface PlausibleRefusal {
  details: Record<string, unknown>;
  headers: Record<string, string>;
}

/**
 * The details that the operation declares for this code, so that a client cannot tell a fault from a refusal:
 * ids from the request's own path and body, the caller's own limits. What the rule gives is laid over them.
 */
export function plausibleRefusal(code: ErrorCode, facts: FaultFacts, beside: Beside): PlausibleRefusal {
  const details: Record<string, unknown> = {};
  for (const [name, source] of Object.entries(refusalOf(facts.operation, code).details)) {
    details[name] = isFigure(source) ? FIGURES[source](facts, beside)[name] : detailOf(name, source, facts);
  }
  Object.assign(details, beside.given);
  const wait = details["retry_after_seconds"];
  return { details, headers: code === "RATE_LIMIT_EXCEEDED" ? { "Retry-After": String(wait) } : {} };
}

/** Whether the details of this code can only be made once the body was read. */
export function asksForBody(code: ErrorCode, operation: AnyOperation): boolean {
  if (operation.body?.kind !== "json") return false;
  const inPath = propertiesOf(operation.params);
  const inBody = propertiesOf(operation.body.schema);
  return Object.entries(refusalOf(operation, code).details).some(([name, source]) => {
    if (source === "input" || (typeof source === "object" && "body" in source)) return true;
    return namesOf(name, source).some((one) => one in inBody && !(one in inPath));
  });
}

/** Under which names the request may carry it; none where it comes from elsewhere. */
function namesOf(name: string, source: DetailSource): readonly string[] {
  if (source === "organization") return ["organization_id", "org_id"];
  if (source === "sent") return [name];
  return typeof source === "object" && "sent" in source ? source.sent : [];
}

function detailOf(name: string, source: Exclude<DetailSource, Figure>, facts: FaultFacts): unknown {
  if (source === "now") return facts.world.iso(facts.world.now);
  if (typeof source === "object" && "always" in source) return source.always;
  if (typeof source === "object" && "body" in source) return valueAt(facts.body, source.body);
  const values = namesOf(name, source).map(
    (one) => facts.params[one] ?? bodyOf(facts)[one] ?? facts.query.get(one) ?? undefined,
  );
  const organization = source === "organization" ? facts.organization : undefined;
  return [...values, organization].find((value) => value !== undefined) ?? null;
}

function bodyOf({ body }: FaultFacts): Values {
  return typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Values) : {};
}

function propertiesOf(schema: unknown): Values {
  return (schema as { properties?: Values } | undefined)?.properties ?? {};
}

/** Sources that make several details at once. */
type Figure = "input" | "rate" | "spending";

const FIGURES: Record<Figure, (facts: FaultFacts, beside: Beside) => Values> = { input, rate, spending };

function isFigure(source: DetailSource): source is Figure {
  return typeof source === "string" && Object.hasOwn(FIGURES, source);
}

/** G08: a field that this operation really judges, with what was sent there. */
function input(facts: FaultFacts): Values {
  const { operation, params, query } = facts;
  const { body } = operation;
  const fields = body?.kind === "json" ? body.schema : body?.kind === "multipart" ? body.fields : undefined;
  const [ofBody] = Object.keys(propertiesOf(fields));
  if (ofBody !== undefined) return { field: ofBody, value: bodyOf(facts)[ofBody] ?? null };
  const names = Object.keys(propertiesOf(operation.query));
  const [sent] = query.keys();
  const ofQuery = names.find((name) => query.has(name)) ?? names[0] ?? sent;
  if (ofQuery !== undefined) return { field: ofQuery, value: query.get(ofQuery) };
  const ofPath = Object.keys(params).at(-1);
  return ofPath === undefined ? { field: "body", value: null } : { field: ofPath, value: params[ofPath] };
}

const STANDARD_PLAN = 100;

function rate({ rate: window }: FaultFacts): Values {
  return {
    limit: window?.limit ?? STANDARD_PLAN,
    window_seconds: 60,
    retry_after_seconds: window?.seconds_left ?? 60,
  };
}

function spending({ principal, world }: FaultFacts, { given: { scope }, spending: of }: Beside): Values {
  const figures = principal === undefined ? [] : of(world, principal);
  return { ...refusedFigures(figures, typeof scope === "string" ? scope : undefined) };
}
