import { type DetailSources, type Details, detailSources } from "./error-details.ts";
import { CATALOGUE, codeOf, type ErrorCode } from "./errors.ts";
import { type AnyOperation, errorCodesOf } from "./operation.ts";

/** One reason to refuse a request. */
export interface Refusal {
  code: ErrorCode;
  details: DetailSources;
}

const known = new WeakMap<AnyOperation, readonly Refusal[]>();

/** Every refusal of an operation, in the order of its codes; several of one code, the likeliest first. */
export function refusalsOf(operation: AnyOperation): readonly Refusal[] {
  let refusals = known.get(operation);
  if (refusals === undefined) {
    refusals = errorCodesOf(operation).flatMap((code) => reasonsFor(operation, code));
    known.set(operation, refusals);
  }
  return refusals;
}

/** The likeliest with this code; one that the operation never gives looks as the catalogue has it. */
export function refusalOf(operation: AnyOperation, code: ErrorCode): Refusal {
  return refusalsOf(operation).find((refusal) => refusal.code === code) ?? reasonsFor(operation, code)[0]!;
}

function reasonsFor({ errors, path }: AnyOperation, code: ErrorCode): Refusal[] {
  const declared = errors.filter((error) => codeOf(error) === code);
  return (declared.length === 0 ? [code] : declared).map((error) => {
    const details: Details | undefined = typeof error === "string" ? CATALOGUE[code].details : error.details;
    return { code, details: detailSources(details, path) };
  });
}
