import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { CONTROL_OPERATIONS } from "../../src/control/operations/index.ts";
import type { AnyDeclaration } from "../../src/engine/contract/operation.ts";
import { makeAjv } from "../../src/engine/contract/validator.ts";
import { API } from "../../src/engine/resources/index.ts";
import { buildControlApiDocument } from "../../src/tools/reports/control-openapi.ts";
import { buildOpenApiDocument } from "../../src/tools/reports/openapi.ts";

/** Properties of both documents that other tools rely on. */
type Json = Record<string, unknown>;

const DOCUMENTS: [name: string, declared: readonly AnyDeclaration[], document: Json][] = [
  ["the emulated API", API.operations, buildOpenApiDocument(API, "1.2.3")],
  ["the control API", CONTROL_OPERATIONS, buildControlApiDocument(CONTROL_OPERATIONS, "1.2.3")],
];

/** Names of TypeScript's library and the DOM that Node does not have at run time. */
const TYPESCRIPT_NAMES = [
  ...[
    "Record",
    "Partial",
    "Required",
    "Readonly",
    "Pick",
    "Omit",
    "Exclude",
    "Extract",
    "Parameters",
    "File",
  ],
  ...["Document", "Element", "Node", "Location", "Window", "default", "class", "delete", "new", "package"],
];

interface Documented {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean }[];
  responses: Record<string, { $ref?: string; content?: Record<string, Json> }>;
}

function listOperations(document: Json): [path: string, method: string, operation: Documented][] {
  const paths = document["paths"] as Record<string, Record<string, Documented>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, Documented] => [
      path,
      method,
      operation,
    ]),
  );
}

/** Lists all objects in a document with their JSON pointers. */
function* listObjects(value: unknown, pointer = "#"): Generator<[string, Json]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value as Json];
  for (const [key, inner] of Object.entries(value)) {
    yield* listObjects(inner, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

function resolvePointer(document: Json, pointer: string): unknown {
  const parts = pointer.slice(2).split("/");
  return parts.reduce<unknown>(
    (value, part) => (value as Json | undefined)?.[part.replaceAll("~1", "/").replaceAll("~0", "~")],
    document,
  );
}

describe.each(DOCUMENTS)("the OpenAPI document of %s [interfaces 11]", (_name, declared, document) => {
  it("fits the schema of OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it("has every declared operation once, with a summary and its tag", () => {
    const operations = listOperations(document);
    expect(operations.map(([, , { operationId }]) => operationId).sort()).toEqual(
      declared.map(({ id }) => id).sort(),
    );
    const tags = new Set((document["tags"] as { name: string }[]).map(({ name }) => name));
    for (const [, , { operationId, summary, tags: own }] of operations) {
      expect(summary, operationId).not.toBe("");
      expect(own.filter((tag) => !tags.has(tag))).toEqual([]);
    }
  });

  it("declares exactly the parameters of each path", () => {
    for (const [path, method, { parameters }] of listOperations(document)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const named = parameters.filter((one) => one.in === "path").map(({ name }) => name);
      expect(named, `${method} ${path}`).toEqual(inPath);
    }
  });

  it("refers only to existing parts", () => {
    const lost = [...listObjects(document)].flatMap(([, { $ref }]) =>
      typeof $ref === "string" && resolvePointer(document, $ref) === undefined ? [$ref] : [],
    );
    expect(lost).toEqual([]);
  });

  it("names no component like a global type, a keyword or another component, for generated code [interfaces 9]", () => {
    const globals = new Set([...Object.getOwnPropertyNames(globalThis), ...TYPESCRIPT_NAMES]);
    const components = document["components"] as Record<string, Json>;
    const names = ["schemas", "responses", "parameters"].flatMap((kind) =>
      Object.keys(components[kind] ?? {}),
    );
    expect(names.filter((name) => globals.has(name) || globals.has(name.toLowerCase()))).toEqual([]);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it("has examples that fit their schemas", () => {
    const ajv = makeAjv({ allErrors: true });
    ajv.addSchema(document, "document:/");
    let examples = 0;
    for (const [pointer, schema] of listObjects(document)) {
      if (!Array.isArray(schema["examples"]) || /\/examples\/\d+(\/|$)/.test(pointer)) continue;
      const $ref = `document:/${pointer.split("/").map(encodeURIComponent).join("/").replace("%23", "#")}`;
      const validate = ajv.compile({ $ref });
      for (const example of schema["examples"]) {
        examples += 1;
        expect(validate(example) ? [] : validate.errors, `${pointer} ${JSON.stringify(example)}`).toEqual([]);
      }
    }
    expect(examples).toBeGreaterThan(20);
  });
});

describe("the emulated API's document", () => {
  const [, , document] = DOCUMENTS[0]!;

  it("gives the details of each error code their types [7.1]", () => {
    const untyped = [...listObjects(document)].flatMap(([pointer, schema]) => {
      const details = (schema["properties"] as Record<string, Json> | undefined)?.["details"];
      const required = (details?.["required"] ?? []) as string[];
      const typed = Object.entries((details?.["properties"] ?? {}) as Json);
      return required
        .filter(
          (name) =>
            !typed.some(
              ([one, type]) => one === name && (name === "value" || Object.keys(type as Json).length > 0),
            ),
        )
        .map((name) => `${pointer} ${name}`);
    });
    expect(untyped).toEqual([]);
  });

  it("describes each response that operations share once, so that a generated client stays small [interfaces 9]", () => {
    const { responses } = document["components"] as Record<string, Json>;
    const texts = Object.values(responses!).map((response) => JSON.stringify(response));
    expect(new Set(texts).size).toBe(texts.length);
    expect(JSON.stringify(document).length).toBeLessThan(500_000);
  });
});

describe("the control API's document [interfaces 11]", () => {
  const [, , document] = DOCUMENTS[1]!;

  it.each(CONTROL_OPERATIONS.map((operation) => [operation.id, operation] as const))(
    "%s has an example of its body and of each JSON answer [interfaces 11]",
    (_id, { path, method, body }) => {
      const documented = listOperations(document).find(
        ([of, verb]) => of === path && verb === method.toLowerCase(),
      )![2];
      expect(documented.responses).not.toEqual({});
      if (body)
        expect((body as { schema: { examples?: unknown[] } }).schema.examples?.length).toBeGreaterThan(0);
      for (const [status, { content = {} }] of Object.entries(documented.responses)) {
        const schema = (content["application/json"] as { schema: Json } | undefined)?.schema;
        if (schema === undefined) continue;
        const shown = (
          typeof schema["$ref"] === "string" ? resolvePointer(document, schema["$ref"]) : schema
        ) as Json;
        expect((shown["examples"] as unknown[] | undefined)?.length, status).toBeGreaterThan(0);
      }
    },
  );
});
