import { CATALOGUE } from "../../../engine/contract/errors.ts";
import { listErrorCodes } from "../../../engine/contract/operation.ts";
import type { Check, Context } from "../check.ts";
import { checkAnyRefusal, checkRefusal } from "../check-refusal.ts";
import type { Contract } from "../contract.ts";
import { inventParams } from "../known-objects.ts";
import type { RefusalCase } from "../refusal-cases.ts";
import type { CheckFamily } from "../report.ts";

async function checkRefusalCase(
  { contract, target, known, verdict }: Context,
  one: RefusalCase,
): Promise<void> {
  const operation = contract.getOperation(one.operation);
  const neededObjects = Object.entries(one.knownObjects ?? {});
  const missing = neededObjects.map(([, name]) => name).filter((name) => known.findOne(name) === undefined);
  if (missing.length > 0) return verdict.notObservable(known.describeMissing(missing));
  const values = Object.fromEntries(neededObjects.map(([param, name]) => [param, known.findOne(name)!]));
  const params = inventParams(operation, values)!;
  const { query, body, code, assumption, codeAssumption, detailsAssumption } = one;
  const credential = operation.credentials === false ? "none" : "key";
  const exchange = await target.send({
    operation,
    params,
    query,
    body,
    credential,
    endsAfterFirstEvents: true,
  });
  const requiresRole = listErrorCodes(operation).includes("INSUFFICIENT_PERMISSIONS");
  if (exchange.status === 403 && CATALOGUE[code].status !== 403 && requiresRole) {
    checkAnyRefusal(verdict, exchange);
    return verdict.notObservable("the key's user lacks the role, which is checked first");
  }
  const repeated = Object.fromEntries((one.details ?? []).map((name) => [name, params[name]]));
  const details = { ...repeated, ...one.otherDetails };
  checkRefusal(verdict, exchange, { code, details, assumption, codeAssumption, detailsAssumption });
}

export function createRefusalChecks(
  contract: Contract,
  cases: readonly RefusalCase[],
  family: CheckFamily,
): Check[] {
  return cases.map((one) => ({
    id: `${one.operation}/${one.name}`,
    family,
    section: one.assumption ?? contract.getOperation(one.operation).section,
    title: `${one.operation}: ${one.title}`,
    run: (context) => checkRefusalCase(context, one),
  }));
}
