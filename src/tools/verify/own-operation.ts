import { References } from "../../documents/openapi/references.ts";
import { type AnyOperation, isReadOnly } from "../../engine/contract/operation.ts";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";

interface OwnParameter {
  name: string;
  schema: JsonObject;
  required: boolean;
  /** A value that its declaration or document shows; undefined if there is none. */
  example: unknown;
}

/** Whether a request only reads, also at the verified service: there, a POST of a user's document may write. */
export function isHarmless(operation: AnyOperation): boolean {
  return isReadOnly(operation) && (operation.openapi === undefined || operation.method === "GET");
}

/** The parameters of a path, each with the fixed step before it: `/tags/{tag_id}` names an item of `/tags`. */
export function listPathParameters({
  path,
}: Pick<AnyOperation, "path">): { name: string; list: string | undefined }[] {
  const steps = path.split("/");
  return steps.flatMap((step, at) => {
    const before = steps[at - 1];
    const list = before === "" || before?.includes("{") ? undefined : before;
    return [...step.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => ({ name: name!, list }));
  });
}

/** The parameters of path or query; those of an OpenAPI document already include the ones of the path item. */
export function listParameters(operation: AnyOperation, place: "path" | "query"): OwnParameter[] {
  const { openapi, params, query } = operation;
  if (openapi !== undefined) {
    const references = new References(openapi.document as JsonObject);
    const follow = (node: unknown) => references.follow({ node: (node ?? {}) as JsonObject, path: [] }).node;
    const parameters = ((openapi.operation as JsonObject)["parameters"] ?? []) as JsonObject[];
    return parameters
      .filter((one) => one["in"] === place)
      .map((one) => {
        const schema = follow(one["schema"]);
        const example = one["example"] ?? schema["default"] ?? schema["example"];
        return {
          name: String(one["name"]),
          schema,
          required: one["required"] === true,
          example: example ?? getFirst(schema["examples"]) ?? getFirst(schema["enum"]),
        };
      });
  }
  const { properties = {}, required = [] } = ((place === "path" ? params : query) ?? {}) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
    example: schema["default"] ?? getFirst(schema["enum"]),
  }));
}

const getFirst = (list: unknown) => (Array.isArray(list) ? list[0] : undefined);

/** Values for the query parameters that a request needs; or `missing`, the name of one without a usable example. */
export function readNeededQuery(
  operation: AnyOperation,
): { query: Record<string, string> } | { missing: string } {
  const query: Record<string, string> = {};
  for (const { name, required, example } of listParameters(operation, "query")) {
    if (!required) continue;
    if (example === undefined || typeof example === "object") return { missing: name };
    query[name] = String(example);
  }
  return { query };
}

/** The items of an answer that is a list, or has one. */
export function findItems(json: unknown): readonly JsonObject[] | undefined {
  const isList = (value: unknown): value is JsonObject[] =>
    Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null);
  if (!isJsonObject(json)) return isList(json) ? json : undefined;
  const values = Object.values(json);
  return (
    values.find(isList) ?? values.flatMap((one) => (isJsonObject(one) ? Object.values(one) : [])).find(isList)
  );
}

/** The field of a record that has the value of a path's parameter: `issue_number` itself, its last word `number`, or `id`. */
export function findIdField(record: JsonObject, parameter: string): string | undefined {
  const lastWord = parameter.split(/[_-]|(?=[A-Z])/).at(-1)!;
  return [parameter, lastWord.toLowerCase(), "id"].find((name) =>
    ["string", "number"].includes(typeof record[name]),
  );
}

/** The answer itself or the object in it that has the record's id. */
export function findRecord(
  json: unknown,
  parameter: string,
): { record: JsonObject; field: string } | undefined {
  if (!isJsonObject(json)) return undefined;
  for (const record of [json, ...Object.values(json).filter(isJsonObject)]) {
    const field = findIdField(record, parameter);
    if (field !== undefined) return { record, field };
  }
  return undefined;
}

/** The headers or the query that carry the key, as the operation's document says; without one, the API's header `api-key`. */
export function toCredential(
  { openapi }: Partial<AnyOperation>,
  key: string,
): { headers?: Record<string, string>; query?: [name: string, value: string] } {
  const document = (openapi?.document ?? {}) as { security?: JsonObject[]; components?: JsonObject };
  const { security = document.security } = (openapi?.operation ?? {}) as { security?: JsonObject[] };
  const schemes = (document.components?.["securitySchemes"] ?? {}) as Record<string, JsonObject>;
  for (const schemeName of (security ?? []).flatMap((one) => Object.keys(one))) {
    const { type, in: place, name, scheme } = findScheme(schemes, schemeName) ?? {};
    if (type === "apiKey" && place === "query") return { query: [String(name), key] };
    if (type === "apiKey")
      return { headers: place === "cookie" ? { cookie: `${name}=${key}` } : { [String(name)]: key } };
    const isOfHttp = (kind: string) => type === "http" && String(scheme).toLowerCase() === kind;
    if (isOfHttp("basic")) {
      // A key alone is the user, without a password.
      const pair = key.includes(":") ? key : `${key}:`;
      return { headers: { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
    }
    if (isOfHttp("bearer") || type === "oauth2" || type === "openIdConnect")
      return { headers: { Authorization: `Bearer ${key}` } };
  }
  return { headers: { "api-key": key } };
}

/** The scheme of a name, or the one that it refers to. */
function findScheme(schemes: Record<string, JsonObject>, name: string): JsonObject | undefined {
  const { $ref: reference } = schemes[name] ?? {};
  return typeof reference === "string" ? schemes[reference.split("/").at(-1)!] : schemes[name];
}
