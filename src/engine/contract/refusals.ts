import { getOrAdd } from "../maps.ts";
import {
  CATALOGUE,
  type DetailSources,
  type Details,
  type ErrorCode,
  toDetailSources,
  toErrorCode,
} from "./errors.ts";
import { type AnyOperation, listErrorCodes } from "./operation.ts";

/** One reason to refuse a request. */
export interface Refusal {
  code: ErrorCode;
  details: DetailSources;
}

const refusalsByOperation = new WeakMap<AnyOperation, readonly Refusal[]>();

/** Every refusal of an operation, in the order of its codes; several of one code, the likeliest first. */
export function listRefusals(operation: AnyOperation): readonly Refusal[] {
  return getOrAdd(refusalsByOperation, operation, () =>
    listErrorCodes(operation).flatMap((code) => listReasons(operation, code)),
  );
}

/** The likeliest refusal with this code; for a code that the operation never answers, the catalogue's. */
export function findRefusal(operation: AnyOperation, code: ErrorCode): Refusal {
  return listRefusals(operation).find((refusal) => refusal.code === code) ?? listReasons(operation, code)[0]!;
}

function listReasons({ errors, path }: AnyOperation, code: ErrorCode): Refusal[] {
  const declarations = errors.filter((error) => toErrorCode(error) === code);
  return (declarations.length === 0 ? [code] : declarations).map((error) => {
    const details: Details | undefined = typeof error === "string" ? CATALOGUE[code].details : error.details;
    return { code, details: toDetailSources(details, path) };
  });
}

/** One limit of section 8's hierarchy with the spending of a month, in CHF. */
export interface SpendingFigures {
  scope: string;
  /** Null: no limit. */
  monthly_limit: number | null;
  current_usage: number;
}

/**
 * Gives an injected refusal the figures of the caller, with a usage below the limit raised to it (G05).
 * @param scope the limit; by default the first that is used up, else the first that is set
 */
export function toReachedLimit(figures: readonly SpendingFigures[], scope?: string): SpendingFigures {
  const chosen =
    figures.find((one) => one.scope === scope) ??
    figures.find(
      ({ monthly_limit, current_usage }) => monthly_limit !== null && current_usage >= monthly_limit,
    ) ??
    figures.find(({ monthly_limit }) => monthly_limit !== null);
  const usage = chosen?.current_usage ?? 0;
  const monthly_limit = chosen?.monthly_limit ?? Math.max(100, Math.ceil(usage / 100) * 100);
  return {
    scope: chosen?.scope ?? scope ?? "organization",
    monthly_limit,
    current_usage: Math.max(usage, monthly_limit),
  };
}

/** The details of a request over its limit per minute (G05). */
export function toRateDetails(limit: number, retry_after_seconds: number): Record<string, number> {
  return { limit, window_seconds: 60, retry_after_seconds };
}
