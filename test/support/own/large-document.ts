/**
 * Writes a document as public APIs publish them, with the parts of OpenAPI 3.0 that are most often misread: circular
 * references, alternatives with discriminators, `nullable`, exclusive bounds, shared parameters and responses.
 */
export function writeLargeDocument(operations: number, { prefix = "" } = {}): string {
  const paths: Record<string, object> = {};
  const schemas: Record<string, object> = { Error: ERROR };
  for (let at = 0; at < operations / 5; at++) {
    const name = `${prefix}thing${at}`;
    Object.assign(schemas, toSchemas(name, `${prefix}thing${(at + 1) % Math.ceil(operations / 5)}`));
    Object.assign(paths, toPaths(name));
  }
  return JSON.stringify({
    openapi: "3.0.3",
    info: { title: "Large", version: "1" },
    paths,
    components: {
      schemas,
      parameters: {
        Limit: {
          name: "limit",
          in: "query",
          schema: { type: "integer", minimum: 0, exclusiveMinimum: true, default: 20 },
        },
        Expand: {
          name: "expand",
          in: "query",
          explode: false,
          schema: { type: "array", items: { type: "string" } },
        },
      },
      responses: { Error: { description: "Error", content: toJson({ $ref: "#/components/schemas/Error" }) } },
    },
  });
}

const ERROR = {
  type: "object",
  required: ["message"],
  properties: { message: { type: "string" }, code: { type: "string" } },
};
const text = { type: "string" };
const toJson = (schema: object) => ({ "application/json": { schema } });

function toPaths(name: string): Record<string, object> {
  const ref = { $ref: `#/components/schemas/${name}` };
  const answer = (status: string) => ({
    [status]: { description: "One", content: toJson(ref) },
    default: { $ref: "#/components/responses/Error" },
  });
  const id = { name: "id", in: "path", required: true, schema: text };
  const requestBody = { required: true, content: toJson({ $ref: `#/components/schemas/${name}_input` }) };
  const list = {
    type: "object",
    required: ["data"],
    properties: { data: { type: "array", items: ref }, has_more: { type: "boolean" } },
  };
  return {
    [`/v1/${name}s`]: {
      get: {
        operationId: `list_${name}`,
        parameters: [{ $ref: "#/components/parameters/Limit" }, { $ref: "#/components/parameters/Expand" }],
        responses: { ...answer("200"), "200": { description: "Page", content: toJson(list) } },
      },
      post: { operationId: `create_${name}`, requestBody, responses: answer("201") },
    },
    [`/v1/${name}s/{id}`]: {
      parameters: [id],
      get: { operationId: `get_${name}`, responses: answer("200") },
      patch: { operationId: `update_${name}`, requestBody, responses: answer("200") },
      delete: { operationId: `delete_${name}`, responses: { "204": { description: "Gone" } } },
    },
  };
}

function toSchemas(name: string, next: string): Record<string, object> {
  const makeRef = (other: string) => ({ $ref: `#/components/schemas/${other}` });
  const source = {
    oneOf: [makeRef(`${name}_card`), makeRef(`${name}_bank`)],
    discriminator: {
      propertyName: "kind",
      mapping: { card: `#/components/schemas/${name}_card`, bank: `${name}_bank` },
    },
  };
  const fields = {
    title: { type: "string", minLength: 1, maxLength: 200 },
    note: { type: "string", nullable: true },
    state: { type: "string", enum: ["new", "done"], nullable: true, default: "new" },
    amount: { type: "number", minimum: 0, exclusiveMinimum: true },
    labels: { type: "object", additionalProperties: { type: "string" } },
    source,
  };
  return {
    [name]: {
      type: "object",
      required: ["id", "title", "state"],
      properties: {
        id: { type: "string", readOnly: true },
        created: { type: "string", format: "date-time", readOnly: true },
        ...fields,
        parent: { nullable: true, allOf: [makeRef(name)] },
        related: { type: "array", items: makeRef(next) },
      },
    },
    [`${name}_input`]: { type: "object", required: ["title"], properties: fields },
    [`${name}_card`]: {
      type: "object",
      required: ["kind", "last4"],
      properties: { kind: text, last4: { type: "string", pattern: "^\\d{4}$" } },
    },
    [`${name}_bank`]: {
      allOf: [
        { type: "object", required: ["kind"], properties: { kind: text } },
        { properties: { iban: text, owner: makeRef(name) } },
      ],
    },
  };
}
