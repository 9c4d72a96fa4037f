import { FORMATS, isPattern, toRegExp } from "../../../documents/openapi/schemas.ts";
import type { AnyOperation } from "../../../engine/contract/operation.ts";
import { toValidator } from "../../../engine/contract/validator.ts";
import type { Check, Context } from "../check.ts";
import { hasSucceeded } from "../check-answer.ts";
import { checkDescribedRefusal, checkRefusal } from "../check-refusal.ts";
import type { Contract } from "../contract.ts";
import { inventParams, listParameterNames } from "../known-objects.ts";
import { isHarmless, listParameters } from "../own-operation.ts";
import { checkAnyPage } from "./listings.ts";

interface Property {
  type?: string;
  minimum?: number;
  maximum?: number;
  enum?: readonly string[];
  format?: string;
  pattern?: string;
}

function listRefusedValues({ type, minimum, maximum, ...form }: Property): (string | number)[] {
  if (type !== "integer") return refusesText(form, "!nonsense") ? ["!nonsense"] : [];
  const bounds = [minimum === undefined ? [] : minimum - 1, maximum === undefined ? [] : maximum + 1];
  return [...bounds.flat(), "some"];
}

/** Documents have formats that only describe, such as `password`, and patterns that any text fits. */
function refusesText({ enum: words, format, pattern }: Property, text: string): boolean {
  if (words?.includes(text) === false) return true;
  if (pattern !== undefined && isPattern(pattern) && !toRegExp(pattern).test(text)) return true;
  return (format === "date-or-instant" || FORMATS.has(format)) && !toValidator({ format })(text);
}

const listProperties = (schema: unknown) =>
  Object.entries(
    ((schema as { properties?: Record<string, Property> } | undefined)?.properties ?? {}) as object,
  ) as [string, Property][];

/** Calls each reading operation with one malformed parameter at a time, as the declarations allow (G08). */
function createValueChecks({ operations }: Contract): Check[] {
  const operationsWithValues = operations.filter(
    (one) => isHarmless(one) && listInvalidValues(one).length > 0,
  );
  return operationsWithValues.map((operation) => ({
    id: `${operation.id}/malformed`,
    family: "refusals",
    section: "G08",
    title: `${operation.id} answers 422 to malformed values and names the field`,
    run: (context) => checkInvalidValues(context, operation),
  }));
}

interface InvalidValue {
  field: string;
  value: string | number;
}

function listInvalidValues(operation: AnyOperation): InvalidValue[] {
  const { query, body, openapi } = operation;
  const properties =
    openapi === undefined
      ? listProperties(body?.kind === "json" ? body.schema : query)
      : listParameters(operation, "query").map(({ name, schema }): [string, Property] => [name, schema]);
  return properties.flatMap(([field, property]) =>
    listRefusedValues(property).map((value) => ({ field, value })),
  );
}

/** 4.17 shows this refusal for a month out of range; for all other values it is an assumption. */
function findAssumption({ id }: AnyOperation, { field, value }: InvalidValue): string | undefined {
  return id === "usage.retrieve_limits" && field === "month" && typeof value === "number" ? undefined : "G08";
}

async function checkInvalidValues(
  { target, known, verdict, successes }: Context,
  operation: AnyOperation,
): Promise<void> {
  const [knownValues] = known.listPathValues(operation, 1);
  // The shape is checked before existence (G04), so an id that does not exist is enough if none is known.
  const params = successes.get(operation.id)?.params ?? knownValues ?? inventParams(operation);
  if (params === undefined) return verdict.notObservable(known.describeMissingFor(operation));
  for (const one of listInvalidValues(operation)) {
    const { field, value } = one;
    const sent = operation.method === "GET" ? { query: { [field]: value } } : { body: { [field]: value } };
    const exchange = await target.send({ operation, params, ...sent });
    const assumption = findAssumption(operation, one);
    if (operation.openapi !== undefined) {
      checkDescribedRefusal(verdict, exchange, { statuses: [400, 422], assumption });
      continue;
    }
    checkRefusal(verdict, exchange, { code: "INVALID_INPUT", details: { field, value }, assumption });
    if (hasSucceeded(exchange)) checkAnyPage(verdict, exchange);
  }
}

/** Operations that are called with an id that does not match the pattern of section 2.1. */
const MALFORMED_ID_OPERATIONS = [
  "meeting_sessions.export_transcript",
  "assistants.list_history",
  "transcriptions.list_sentences",
  "usage.retrieve_limits",
  "webhooks.list_deliveries",
];

const idChecks: Check[] = MALFORMED_ID_OPERATIONS.map((id) => ({
  id: `${id}/malformed-id`,
  family: "refusals",
  section: "G08",
  title: `${id} answers 422 to a malformed identifier`,
  async run({ contract, target, verdict }) {
    const operation = contract.getOperation(id);
    const [field = ""] = listParameterNames(operation);
    const value = "nobody0!";
    const exchange = await target.send({ operation, params: { [field]: value } });
    checkRefusal(verdict, exchange, { code: "INVALID_INPUT", details: { field, value }, assumption: "G08" });
  },
}));

/** Requests that reach no operation (G04, G09). The POST of 4.16, which only reads, represents all operations with a JSON body. */
const transportChecks: readonly Check[] = [
  {
    id: "transport/no-route",
    family: "refusals",
    section: "G04",
    title: "an undeclared path is 404 in envelope A",
    async run({ target, verdict }) {
      const exchange = await target.send({ path: "/v1/understudy-verify/nobody0" });
      checkRefusal(verdict, exchange, { code: "RESOURCE_NOT_FOUND", assumption: "G04" });
    },
  },
  {
    id: "transport/method",
    family: "refusals",
    section: "G04",
    title: "a method that a path does not take is 405 with Allow",
    async run({ contract, target, verdict }) {
      // Only a GET can be tried without harm, so the path is one that takes only POST.
      const exchange = await target.send({ path: contract.getOperation("model_responses.create").path });
      checkRefusal(verdict, exchange, { code: "METHOD_NOT_ALLOWED", assumption: "G04" });
      if (exchange.status === 405) {
        const allow = exchange.headers.get("allow") ?? "";
        verdict.expect(allow.split(/,\s*/).includes("POST"), `Allow is "${allow}", without POST`, "G04");
      }
    },
  },
  createBodyCheck("json", "a body that is not JSON is 400", { body: '{"broken', type: "application/json" }),
  createBodyCheck("media-type", "another content type than JSON is 415", {
    body: "take=1",
    type: "text/plain",
  }),
];

function createBodyCheck(name: string, title: string, { body, type }: { body: string; type: string }): Check {
  return {
    id: `transport/${name}`,
    family: "refusals",
    section: "G09",
    title,
    async run(context) {
      const ids = context.requireIds("organization_id");
      const params = inventParams(context.contract.getOperation("change_logs.list"), ids)!;
      const headers = { "content-type": type };
      const exchange = await context.send("change_logs.list", { params, body, headers });
      const code = name === "json" ? "INVALID_JSON" : "UNSUPPORTED_MEDIA_TYPE";
      checkRefusal(context.verdict, exchange, { code, assumption: "G09", envelope: "A" });
    },
  };
}

export const createMalformedChecks = (contract: Contract): Check[] => [
  ...createValueChecks(contract),
  ...idChecks,
  ...transportChecks,
];
