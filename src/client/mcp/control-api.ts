import type { ControlHttp } from "../http.ts";

/** As much of a JSON Schema as is looked at here. */
export interface JsonSchema {
  type?: string | string[];
  description?: string;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  anyOf?: JsonSchema[];
  $ref?: string;
  [key: string]: unknown;
}

interface Described {
  operationId?: string;
  parameters?: { name: string; in: string; description?: string; required?: boolean; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
}

interface OpenApi {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** An argument of a call, with the place that it has in the request. */
export interface Field {
  place: "path" | "query" | "body";
  schema: JsonSchema;
  required: boolean;
}

/** One call of the control API, as it describes itself (interfaces 11). */
export interface ControlCall {
  method: string;
  path: string;
  fields: Readonly<Record<string, Field>>;
  hasBody: boolean;
}

/** The control API's own description, from which the tools take their arguments. */
export class ControlApi {
  private readonly document: OpenApi;

  private constructor(document: OpenApi) {
    this.document = document;
  }

  static async of(http: ControlHttp): Promise<ControlApi> {
    return new ControlApi(await http.call<OpenApi>("GET", "/_control/api.json"));
  }

  /** @throws Error for a call that the server does not have, which is then of another version */
  call(id: string): ControlCall {
    for (const [path, methods] of Object.entries(this.document.paths)) {
      for (const [method, described] of Object.entries(methods)) {
        if (described.operationId === id) return this.read(path, method.toUpperCase(), described);
      }
    }
    throw new Error(
      `this server's control API has no call ${id}: it is of another version than this command`,
    );
  }

  /** With everything that is referred to written out: clients of tools know no common components. */
  inline(schema: JsonSchema, within: readonly string[] = []): JsonSchema {
    const { $ref } = schema;
    if ($ref !== undefined) {
      const name = $ref.slice($ref.lastIndexOf("/") + 1);
      if (within.includes(name)) return { description: name };
      return this.inline(this.document.components.schemas[name]!, [...within, name]);
    }
    return mapSchema(schema, (one) => this.inline(one, within));
  }

  private read(path: string, method: string, { parameters = [], requestBody }: Described): ControlCall {
    const fields: Record<string, Field> = {};
    for (const { name, in: place, description, required = false, schema } of parameters) {
      // The sandbox of the path, which every tool calls `sandbox`.
      if ((place !== "path" && place !== "query") || (place === "path" && name === "name")) continue;
      fields[name] = {
        place,
        // Fields with a default are listed as required.
        required: required && !("default" in schema),
        schema: { ...this.inline(schema), ...(description && { description }) },
      };
    }
    const body = requestBody && this.inline(Object.values(requestBody.content)[0]!.schema);
    for (const [name, schema] of Object.entries(toProperties(body))) {
      const required = requestBody?.required === true && (body?.required ?? []).includes(name);
      fields[name] = { place: "body", schema, required };
    }
    return { path, method, fields, hasBody: body !== undefined };
  }
}

/** Of all alternatives, where there are some. */
function toProperties(schema: JsonSchema | undefined): Record<string, JsonSchema> {
  if (schema === undefined) return {};
  return Object.assign({}, ...(schema.anyOf ?? []).map(toProperties), schema.properties);
}

function mapSchema(schema: JsonSchema, map: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const made: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "examples" || key === "$id") continue;
    if (key === "properties" || key === "patternProperties")
      made[key] = Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, map(one)]));
    else if (["anyOf", "allOf", "oneOf"].includes(key)) made[key] = (value as JsonSchema[]).map(map);
    else if ((key === "items" || key === "additionalProperties") && typeof value === "object")
      made[key] = map(value as JsonSchema);
    else made[key] = value;
  }
  return made;
}
