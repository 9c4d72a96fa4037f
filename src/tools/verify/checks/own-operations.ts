import { isFilter, PAGE_PARAMETERS } from "../../../documents/openapi/page-names.ts";
import type { AnyOperation } from "../../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../../engine/contract/schema.ts";
import type { Check, Context } from "../check.ts";
import { checkAnyRefusal, refusesWith } from "../check-refusal.ts";
import type { Contract } from "../contract.ts";
import { inventParams, listParameterNames, type PathParams } from "../known-objects.ts";
import { findItems, isHarmless, listParameters, readNeededQuery } from "../own-operation.ts";

/** Checks of own operations only: pages of lists, and records that do not exist. */
export function createOwnChecks({ operations }: Contract): Check[] {
  const readOperations = operations.filter((one) => one.sourceFile !== undefined && isHarmless(one));
  const createCheck = (operation: AnyOperation, name: string, title: string) => ({
    id: `${operation.id}/${name}`,
    family: "answers" as const,
    section: operation.section,
    title: `${operation.id} ${title}`,
  });
  const lists = readOperations.filter((one) => findPageParameters(one).limit !== undefined);
  const records = readOperations.filter((one) => one.path.endsWith("}") && refusesWith(one, 404));
  return [
    ...lists.map((one) => ({
      ...createCheck(one, "pages", "answers pages of the size that is asked for"),
      run: (context: Context) => checkPages(context, one),
    })),
    ...records.map((one) => ({
      ...createCheck(one, "unknown", "answers 404 to an id that does not exist"),
      family: "refusals" as const,
      run: (context: Context) => checkUnknown(context, one),
    })),
  ];
}

/** The names of an operation's parameters of pages; a limit counts only if it may be 1. */
function findPageParameters(operation: AnyOperation): Partial<Record<string, string>> {
  const parameters = listParameters(operation, "query");
  const entries = PAGE_PARAMETERS.map(([key, pattern]) => [
    key,
    parameters.find(
      ({ name, schema }) => pattern.test(name) && !isFilter(schema) && (key !== "limit" || mayBeOne(schema)),
    )?.name,
  ]);
  return Object.fromEntries(entries);
}

const mayBeOne = ({ minimum, enum: values = [1] }: JsonObject) =>
  !(Number(minimum) > 1) && (values as unknown[]).some((one) => Number(one) === 1);

async function checkPages(context: Context, operation: AnyOperation): Promise<void> {
  const first = context.requireSuccess(operation.id);
  const { verdict } = context;
  const all = findItems(first.exchange.json);
  if (all === undefined) return verdict.notObservable("its answer has no list of objects");
  const names = findPageParameters(operation);
  const requestPage = (more: Record<string, string>) => {
    const query = { ...first.exchange.sent.query, [names["limit"]!]: "1", ...more };
    return context.sendAndCheck(operation.id, { params: first.params, query });
  };
  const page = await requestPage({});
  const items = findItems(page?.json);
  if (page === undefined || items === undefined) return;
  verdict.expect(items.length <= 1, `GET ${page.path} answers ${items.length} items`);
  const next = toNextPage(names, page.json);
  if (all.length < 2 || items.length !== 1 || next === undefined) return;
  const [item] = findItems((await requestPage(next))?.json) ?? [];
  const isSame = JSON.stringify(item) === JSON.stringify(items[0]);
  verdict.expect(!isSame, `the page after GET ${page.path} has the same item again`);
}

function toNextPage(
  names: Partial<Record<string, string>>,
  json: unknown,
): Record<string, string> | undefined {
  const { offset, page, cursor } = names;
  if (offset !== undefined) return { [offset]: "1" };
  if (cursor === undefined) return page === undefined ? undefined : { [page]: "2" };
  const places = isJsonObject(json) ? [json, ...Object.values(json).filter(isJsonObject)] : [];
  const cursorField = places
    .flatMap((place) => Object.entries(place))
    .find(([name, value]) => /^(next|end_?cursor|cursor)/i.test(name) && typeof value === "string");
  return cursorField && { [cursor]: String(cursorField[1]) };
}

async function checkUnknown({ target, known, verdict }: Context, operation: AnyOperation): Promise<void> {
  const needed = readNeededQuery(operation);
  // The last id is invented, in the form of a known one; the ids before it are those of known objects.
  const [knownValues] = known.listPathValues(operation, 1);
  const last = listParameterNames(operation).at(-1)!;
  const { [last]: id, ...otherIds } = knownValues ?? ({} as PathParams);
  const params = inventParams(operation, otherIds, id === undefined ? {} : { [last]: id });
  if (params === undefined || "missing" in needed)
    return verdict.notObservable("no id can be invented for it");
  const exchange = await target.send({ operation, params, ...needed });
  if (exchange.status === 403) return verdict.notObservable("the key's user may not see such objects");
  const problem = `GET ${exchange.path} answers ${exchange.status} instead of 404`;
  if (verdict.expect(exchange.status === 404, problem)) checkAnyRefusal(verdict, exchange);
}
