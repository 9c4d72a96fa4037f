import type { ErrorCode } from "../contract/errors.ts";
import type { AnyOperation, Principal } from "../contract/operation.ts";
import type { FaultFacts } from "../sandbox/fault-gate.ts";
import type { WorldReader } from "../state/transaction.ts";

/** One limit of section 8's hierarchy, in the currency of 4.17. */
export interface SpendingFigures {
  scope: string;
  monthly_limit: number | null;
  current_usage: number;
}

/** Reads the figures of a caller, organization limit first; the composition root knows where they are. */
export type SpendingOf = (world: WorldReader, principal: Principal) => SpendingFigures[];

export interface PlausibleRefusal {
  details: Record<string, unknown>;
  headers: Record<string, string>;
}

type Make = (facts: FaultFacts, given: Readonly<Record<string, unknown>>, spending: SpendingOf) => Details;
type Details = Record<string, unknown>;

/**
 * The details that the operation itself would give, so that a client cannot tell a fault from a refusal:
 * ids from the request's own path and body, the caller's own limits. `given` are laid over them.
 */
export function plausibleRefusal(
  code: ErrorCode,
  facts: FaultFacts,
  { given, spending }: { given: Readonly<Record<string, unknown>>; spending: SpendingOf },
): PlausibleRefusal {
  const details = { ...DETAILS[code]?.(facts, given, spending), ...given };
  const wait = details["retry_after_seconds"];
  return { details, headers: code === "RATE_LIMIT_EXCEEDED" ? { "Retry-After": String(wait) } : {} };
}

/** Whether the details of this code can only be made once the body was read. */
export function asksForBody(code: string, { body, params }: AnyOperation): boolean {
  if (body?.kind !== "json") return false;
  if (code === "RESOURCE_NOT_FOUND") return Object.keys(params?.properties ?? {}).every(isOrganization);
  return BODY_CODES.has(code);
}

const BODY_CODES = new Set<string>([
  "DEPARTMENT_CYCLE_DETECTED",
  "INVALID_INPUT",
  "ORGANIZATION_NOT_FOUND",
  "ORGANIZATION_ACCESS_DENIED",
  "INSUFFICIENT_PERMISSIONS",
]);

const STANDARD_PLAN = 100;

const DETAILS: Partial<Record<ErrorCode, Make>> = {
  INSUFFICIENT_PERMISSIONS: (facts) => requirement(facts),
  SESSION_ACCESS_DENIED: ({ params }) => ({ session_id: params["session_id"] ?? null }),
  SESSION_NOT_FOUND: ({ params }) => ({ session_id: params["session_id"] ?? null }),
  ORGANIZATION_ACCESS_DENIED: (facts) => ({ organization_id: organizationOf(facts) }),
  ORGANIZATION_NOT_FOUND: (facts) => ({ organization_id: organizationOf(facts) }),
  DASHBOARD_NOT_FOUND: ({ params }) => ({ dashboard_id: params["dashboard_id"] ?? null }),
  FILE_NOT_IN_STORE: ({ params }) => ({
    file_id: params["file_id"] ?? null,
    store_id: params["store_id"] ?? null,
  }),
  RESOURCE_NOT_FOUND: (facts) => missing(facts),
  DEPARTMENT_CYCLE_DETECTED: (facts) => ({
    department_id: facts.params["department_id"] ?? null,
    // A move under itself is the shortest cycle there is.
    new_parent_id: bodyOf(facts)["new_parent_id"] ?? facts.params["department_id"] ?? null,
  }),
  INVALID_INPUT: (facts) => invalid(facts),
  RATE_LIMIT_EXCEEDED: ({ rate }) => ({
    limit: rate?.limit ?? STANDARD_PLAN,
    window_seconds: 60,
    retry_after_seconds: rate?.seconds_left ?? 60,
  }),
  SPENDING_LIMIT_EXCEEDED: (facts, given, spending) => overspent(facts, given["scope"], spending),
};

function bodyOf({ body }: FaultFacts): Details {
  return typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Details) : {};
}

function isOrganization(name: string): boolean {
  return name === "organization_id" || name === "org_id";
}

function organizationOf(facts: FaultFacts): unknown {
  const { params, organization = null } = facts;
  return params["organization_id"] ?? params["org_id"] ?? bodyOf(facts)["organization_id"] ?? organization;
}

/** G03: below an organization a role is asked for, elsewhere the resource or its organization is somebody else's. */
function requirement(facts: FaultFacts): Details {
  const { params } = facts;
  const names = Object.keys(params);
  if (names.some(isOrganization) || names.length === 0) {
    const sent = bodyOf(facts)["organization_id"];
    return sent === undefined ? { required_role: "admin" } : { organization_id: sent };
  }
  if (names.includes("dashboard_id")) return { required_capability: "report-create" };
  const [name] = names;
  return { [name!]: params[name!] };
}

/** G27: keyed by the parameter's name; without one in the path, by the body's id. */
function missing(facts: FaultFacts): Details {
  const { params } = facts;
  const name = Object.keys(params).findLast((one) => !isOrganization(one));
  if (name !== undefined) return { [name]: params[name] };
  const sent = bodyOf(facts);
  const field = Object.keys(propertiesOf(facts.operation)).find(
    (one) => one.endsWith("_id") && !isOrganization(one),
  );
  if (field !== undefined) return { [field]: sent[field] ?? null };
  const [parameter] = Object.keys(params);
  return parameter === undefined ? {} : { [parameter]: params[parameter] };
}

function propertiesOf({ body }: AnyOperation): Record<string, unknown> {
  const schema = body?.kind === "json" ? body.schema : body?.kind === "multipart" ? body.fields : undefined;
  return (schema as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
}

/** G08: a field that this operation really judges, with what was sent there. */
function invalid(facts: FaultFacts): Details {
  const { operation, params, query } = facts;
  const [ofBody] = Object.keys(propertiesOf(operation));
  if (ofBody !== undefined) return { field: ofBody, value: bodyOf(facts)[ofBody] ?? null };
  const names = Object.keys((operation.query?.properties ?? {}) as object);
  const ofQuery = names.find((name) => query.has(name)) ?? names[0];
  if (ofQuery !== undefined) return { field: ofQuery, value: query.get(ofQuery) };
  const ofPath = Object.keys(params).at(-1);
  return ofPath === undefined ? { field: "body", value: null } : { field: ofPath, value: params[ofPath] };
}

/** G05: figures at which the request is refused; those of a caller within his limits are moved up to them. */
function overspent({ principal, world }: FaultFacts, scope: unknown, spending: SpendingOf): Details {
  const figures = principal === undefined ? [] : spending(world, principal);
  const own =
    figures.find((one) => one.scope === scope) ??
    figures.find(
      ({ monthly_limit, current_usage }) => monthly_limit !== null && current_usage >= monthly_limit,
    ) ??
    figures.find(({ monthly_limit }) => monthly_limit !== null);
  const used = own?.current_usage ?? 0;
  const monthly_limit = own?.monthly_limit ?? Math.max(100, Math.ceil(used / 100) * 100);
  return {
    scope: own?.scope ?? scope ?? "organization",
    monthly_limit,
    current_usage: Math.max(used, monthly_limit),
  };
}
