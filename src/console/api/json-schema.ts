/** What forms and pages read of a JSON Schema (2020-12, as OpenAPI 3.1 has it). */
export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  properties?: Readonly<Record<string, JsonSchema>>;
  patternProperties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  items?: JsonSchema;
  if?: JsonSchema;
  else?: JsonSchema;
  format?: string;
  pattern?: string;
  description?: string;
  default?: unknown;
  examples?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

export interface SchemaComponents {
  schemas: Readonly<Record<string, JsonSchema>>;
}

/** Of the control API's own document, what is read here. */
export interface ControlDescription {
  components: SchemaComponents;
  paths: Readonly<
    Record<
      string,
      {
        get: {
          responses: Record<
            string,
            {
              content: Record<string, { "x-schema-by"?: { schemas: Record<string, JsonSchema> } }>;
            }
          >;
        };
      }
    >
  >;
}

/** The schema itself, where one only points to it. */
export function resolved(schema: JsonSchema, { schemas }: SchemaComponents): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...besides } = schema;
  return { ...schemas[$ref.split("/").at(-1)!], ...besides };
}
