import { CATALOGUE } from "../../../engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes, listSuccesses } from "../../../engine/contract/operation.ts";
import { findEndpointAssumption } from "../../../engine/contract/provenance.ts";
import { pluralize } from "../../../engine/contract/text.ts";
import type { Check, Context, SeenSuccess } from "../check.ts";
import { checkSuccess, hasSucceeded } from "../check-answer.ts";
import { checkAnyRefusal, checkRefusal } from "../check-refusal.ts";
import type { Contract } from "../contract.ts";
import type { Call } from "../exchange.ts";
import { listParameterNames } from "../known-objects.ts";
import { findItems, isHarmless, readNeededQuery } from "../own-operation.ts";
import type { Exchange } from "../target.ts";

const ORGANIZATION_PARAMETERS = new Set(["organization_id", "org_id"]);
const listObjectParameters = (operation: AnyOperation) =>
  listParameterNames(operation).filter((name) => !ORGANIZATION_PARAMETERS.has(name));

const FEW_CHARACTERS = 1000;

/**
 * Checks that every reading operation answers as declared, for known objects. Operations that need no object
 * come first, since their answers contain ids of objects.
 */
export function createAnswerChecks(contract: Contract): Check[] {
  const readOperations = contract.operations.filter((one) => isHarmless(one) || one.method === "GET");
  const ownOperations = readOperations.filter((one) => one.sourceFile !== undefined);
  const referenceOperations = readOperations.filter((one) => one.sourceFile === undefined);
  const sorted = [
    ...referenceOperations.toSorted(
      (a, b) => listObjectParameters(a).length - listObjectParameters(b).length,
    ),
    ...sortOwnOperations(ownOperations, contract),
  ];
  return sorted.map((operation) => ({
    id: `${operation.id}/answer`,
    family: "answers",
    section: operation.section,
    title: `${operation.id} answers as documented`,
    run: (context) =>
      operation.id === "models.list_for_organization"
        ? checkAnnouncedOperation(context, operation)
        : checkAnswer(context, operation),
  }));
}

/** Each operation comes after the lists of the objects that its path names, and after the lists that those need. */
function sortOwnOperations(own: readonly AnyOperation[], { names }: Contract): AnyOperation[] {
  const sorted = new Set<AnyOperation>();
  const visited = new Set<AnyOperation>();
  const add = (operation: AnyOperation) => {
    if (visited.has(operation)) return;
    visited.add(operation);
    const neededObjects = new Set<string | undefined>(names.findObjects(operation).values());
    for (const one of own) if (neededObjects.has(names.findList(one.path)?.key)) add(one);
    sorted.add(operation);
  };
  for (const operation of own) add(operation);
  return [...sorted];
}

async function checkAnswer(context: Context, operation: AnyOperation): Promise<void> {
  const { known, verdict, successes } = context;
  if (!isHarmless(operation)) return verdict.notObservable("its binding changes data, so it is not sent");
  const candidates = known.listPathValues(operation);
  if (candidates.length === 0) return verdict.notObservable(known.describeMissingFor(operation));
  const needed = operation.sourceFile === undefined ? { query: undefined } : readNeededQuery(operation);
  if ("missing" in needed)
    return verdict.notObservable(`its declaration shows no value for ${needed.missing}, which it needs`);
  let last: Exchange | undefined;
  let best: SeenSuccess | undefined;
  for (const params of candidates) {
    last = await requestAnswer(context, operation, { params, query: needed.query });
    if (hasSucceeded(last)) {
      if (last.text.length > (best?.exchange.text.length ?? -1)) best = { params, exchange: last };
      if (!showsLittle(operation, last)) break;
    } else if (!mayDependOnObject(operation, last)) {
      checkSuccess(verdict, last);
      return;
    }
  }
  if (best !== undefined) {
    successes.set(operation.id, best);
    known.collectIds(best.exchange.json);
    known.collectListIds(operation, best.params, best.exchange.json);
    checkSuccess(verdict, best.exchange);
    return;
  }
  const code = checkAnyRefusal(verdict, last!);
  verdict.notObservable(
    `${pluralize(candidates.length, "object")} tried; the last, ${last!.path}, answers ${last!.status} ${code ?? ""}`.trim(),
  );
}

function requestAnswer(
  { target }: Context,
  operation: AnyOperation,
  call: Pick<Call, "params" | "query">,
): Promise<Exchange> {
  const isStream = listSuccesses(operation).some(({ content_types }) =>
    content_types?.includes("text/event-stream"),
  );
  const credential = operation.credentials === false ? "none" : "key";
  const body = operation.method === "GET" ? undefined : {};
  return target.send({ operation, ...call, credential, body, endsAfterFirstEvents: isStream });
}

/** Whether a listing has hardly any items; that of another object may have more to check. */
function showsLittle({ sourceFile, query }: AnyOperation, { text, json }: Exchange): boolean {
  if (sourceFile !== undefined) return findItems(json)?.length === 0;
  return query?.properties["limit"] !== undefined && text.length < FEW_CHARACTERS;
}

/** Whether a refusal may come from the object, or from missing permissions of the key's user, and not from a fault of the service. */
function mayDependOnObject(operation: AnyOperation, { status }: Exchange): boolean {
  if (operation.sourceFile !== undefined)
    return status === 403 || (status === 404 && listObjectParameters(operation).length > 0);
  if (status === 403) return listErrorCodes(operation).some((code) => CATALOGUE[code].status === 403);
  return (status === 404 || status === 422) && listObjectParameters(operation).length > 0;
}

/** Checks the announced operation (section 4.18): production answers 404, a service that already has it answers as announced. */
async function checkAnnouncedOperation(context: Context, operation: AnyOperation): Promise<void> {
  const { target, verdict, successes } = context;
  const params = context.requireIds("organization_id");
  const exchange = await target.send({ operation, params });
  if (hasSucceeded(exchange)) successes.set(operation.id, { params, exchange });
  const assumption = findEndpointAssumption(operation);
  if (exchange.status === 404) checkRefusal(verdict, exchange, { code: "RESOURCE_NOT_FOUND", assumption });
  else checkSuccess(verdict, exchange);
}
