import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { makeAjv, provideValidator } from "../../engine/contract/validator.ts";
import { getOrAdd, mapValues } from "../../engine/maps.ts";
import { hasUselessEnum, isEmptyList, listOwnTypes } from "./check-schema.ts";
import { SchemaReader } from "./schema-reader.ts";
import { SUBSCHEMAS } from "./walk.ts";

/** The purpose of a converted schema: requests may lack what is `readOnly`, answers what is `writeOnly`. */
type Purpose = "request" | "answer";

/** Keywords of JSON Schema that are copied as they are. */
const COPIED = new Set([
  ...["type", "enum", "const", "multipleOf", "maximum", "minimum", "maxLength", "minLength"],
  ...["maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties"],
  ...["dependentRequired", "exclusiveMinimum", "exclusiveMaximum", "pattern", "required"],
]);
/** The formats that are validated; any other only describes. */
export const FORMATS: ReadonlySet<unknown> = new Set<unknown>([
  ...["date-time", "date", "time", "email", "uuid", "uri", "ipv4", "ipv6", "hostname", "int32", "int64"],
]);

/**
 * The schemas of one document as JSON Schema 2020-12. Each is converted when it is first needed, and each target of a
 * `$ref` is compiled once, however many operations use it; circles stay references.
 */
export class Schemas extends SchemaReader {
  /** Made on first use: it costs more than reading a small document. */
  private ajv: Ajv2020 | undefined;
  private readonly names = { request: new Map<unknown, string>(), answer: new Map<unknown, string>() };
  private readonly unconverted: { name: string; node: unknown; purpose: Purpose }[] = [];

  /** A schema of the document, as operations declare theirs: empty, with the validator of the document's. */
  toOperationSchema(node: unknown, purpose: Purpose): object {
    const schema = {};
    provideValidator(schema, () => this.compileValidator(node, purpose));
    return schema;
  }

  /** A schema for the text fields of a form: `read` converts them to their types before validation. */
  toFormSchema(node: JsonObject, read: (fields: unknown) => unknown): object {
    const properties = node["properties"] as JsonObject;
    const typedFields = Object.entries(properties).map(([name, one]) => [
      name,
      { type: [...this.listTypes(one)][0] ?? "string" },
    ]);
    const schema = { type: "object", properties: Object.fromEntries(typedFields) };
    provideValidator(schema, () => {
      const validate = this.compileValidator(node, "request");
      const validateForm = (fields: unknown) => {
        const fits = validate(read(fields));
        validateForm.errors = validate.errors;
        return fits;
      };
      validateForm.errors = null as ValidateFunction["errors"];
      return validateForm as ValidateFunction;
    });
    return schema;
  }

  compileValidator(node: unknown, purpose: Purpose): ValidateFunction {
    const name = this.register(node, purpose);
    this.ajv ??= makeAjv({ code: { optimize: false, regExp: Object.assign(toRegExp, { code: "RegExp" }) } });
    this.convertAll(this.ajv);
    return this.ajv.getSchema(name)!;
  }

  /** The property and the value by which a discriminator selects an alternative. */
  findDiscriminatorValue(
    node: JsonObject,
    key: string,
    branch: unknown,
  ): { property: string; value: unknown } | undefined {
    const discriminator = this.readDiscriminator(node, node[key] as unknown[]);
    const target = isJsonObject(branch) ? this.resolve(branch) : undefined;
    const choice = discriminator?.choices.find((one) => one.target === target);
    return discriminator && choice && { property: discriminator.property, value: choice.values[0] };
  }

  /** The alternative that fits an object; a discriminator decides where there is one. */
  findAlternative(node: unknown, object: JsonObject): unknown {
    const branches = this.listAlternatives(node);
    if (branches.length === 0) return undefined;
    const discriminator = this.readDiscriminator(this.mergeKeywords(node), branches);
    if (discriminator === undefined)
      return branches.find((branch) => this.compileValidator(branch, "request")(object));
    const { property, choices } = discriminator;
    return choices.find(({ values }) => values.includes(object[property]))?.target;
  }

  /** The name of the converted schema of a node, which is converted at the next `convertAll`. */
  private register(node: unknown, purpose: Purpose): string {
    const names = this.names[purpose];
    return getOrAdd(names, node, () => {
      const name = `${purpose}:${names.size}`;
      this.unconverted.push({ name, node, purpose });
      return name;
    });
  }

  private convertAll(ajv: Ajv2020): void {
    for (let next = this.unconverted.pop(); next !== undefined; next = this.unconverted.pop()) {
      const schema = this.convert(next.node, next.purpose);
      ajv.addSchema(
        typeof schema === "boolean" ? (schema ? {} : { not: {} }) : (schema as object),
        next.name,
      );
      compileOnFirstUse(ajv, next.name, () => this.listProperties(next.node).keys());
    }
  }

  private convert(node: unknown, purpose: Purpose): unknown {
    if (!isJsonObject(node)) return node ?? true;
    const schema: JsonObject = {};
    if (typeof node["$ref"] === "string") {
      schema["$ref"] = this.register(this.resolve(node), purpose);
      if (this.hidesSiblings) return node["nullable"] === true ? allowNull(schema) : schema;
    }
    const convertInner = (value: unknown) => this.convert(value, purpose);
    for (const key in node) {
      const value = node[key];
      if (COPIED.has(key) || (key === "format" && FORMATS.has(value))) schema[key] = value;
      else if (SUBSCHEMAS.one.includes(key)) schema[key] = convertInner(value);
      else if (SUBSCHEMAS.list.includes(key) && !isEmptyList(value))
        schema[key] = (value as unknown[]).map(convertInner);
      else if (SUBSCHEMAS.map.includes(key)) schema[key] = mapValues(value as JsonObject, convertInner);
    }
    this.amend(schema, node, purpose);
    return node["nullable"] === true ? allowNull(schema) : schema;
  }

  private amend(schema: JsonObject, node: JsonObject, purpose: Purpose): void {
    convertExclusiveBounds(schema);
    replaceNullType(schema);
    const { pattern } = schema;
    if (pattern !== undefined && !isPattern(pattern)) delete schema["pattern"];
    if (hasUselessEnum(node)) delete schema["enum"];
    const keyword = purpose === "request" ? "readOnly" : "writeOnly";
    if (Array.isArray(schema["required"])) {
      const properties = this.listProperties(node);
      schema["required"] = schema["required"].filter((name) => !this.has(properties.get(name), keyword));
    }
    const key = Array.isArray(node["oneOf"]) ? "oneOf" : "anyOf";
    if (Array.isArray(schema[key])) this.amendChoice(schema, { node, key, purpose });
    // In a circle, an alternative that is still being applied counts as fitting, so two may fit. And any value fits a
    // reference that leads nowhere.
    const mayFitTwo = () =>
      this.references.combinesItself(node) ||
      (node["oneOf"] as unknown[]).some((one) => this.references.isMissing(one));
    if (Array.isArray(schema["oneOf"]) && mayFitTwo()) {
      schema["allOf"] = [...((schema["allOf"] as unknown[]) ?? []), { anyOf: schema["oneOf"] }];
      delete schema["oneOf"];
    }
  }

  /** Lets the discriminator select one schema, so that only that one must fit, and only its problems are reported. */
  private amendChoice(
    schema: JsonObject,
    { node, key, purpose }: { node: JsonObject; key: string; purpose: Purpose },
  ): void {
    const discriminator = this.readDiscriminator(node, node[key] as unknown[]);
    if (discriminator === undefined) return;
    const { property, choices } = discriminator;
    const toCondition = (values: unknown[]) => ({
      properties: { [property]: { enum: values } },
      required: [property],
    });
    delete schema[key];
    const rules = choices.map(({ target, values }) => ({
      if: toCondition(values),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: this.register(target, purpose) },
    }));
    const knownValueRule = { type: "object", ...toCondition(choices.flatMap(({ values }) => values)) };
    schema["allOf"] = [...((schema["allOf"] as unknown[]) ?? []), knownValueRule, ...rules];
  }

  /**
   * The property that selects one of the alternatives, and the values that select each. Undefined without a
   * discriminator, with a `defaultMapping`, and if one of the alternatives is not a `$ref`: then plain alternatives decide.
   */
  private readDiscriminator(
    { discriminator }: JsonObject,
    branches: readonly unknown[],
  ): { property: string; choices: { target: unknown; values: unknown[] }[] } | undefined {
    const {
      propertyName: property,
      mapping,
      defaultMapping,
    } = isJsonObject(discriminator) ? discriminator : {};
    if (typeof property !== "string" || defaultMapping !== undefined) return undefined;
    const byTarget = new Map<unknown, unknown[]>();
    for (const [name, ref] of Object.entries(isJsonObject(mapping) ? mapping : {})) {
      const target = this.references.find(
        /[/#]/.test(String(ref)) ? String(ref) : `#/components/schemas/${String(ref)}`,
      )?.node;
      if (target !== undefined) getOrAdd(byTarget, target, () => []).push(name);
    }
    for (const branch of branches) {
      const target = isJsonObject(branch) ? this.resolve(branch) : undefined;
      if (target === undefined) return undefined;
      if (byTarget.has(target)) continue;
      const { const: constant, enum: allowed } = this.mergeKeywords(
        this.listProperties(target).get(property),
      );
      const values = constant === undefined ? allowed : [constant];
      const name = this.references.find(String((branch as JsonObject)["$ref"]))?.path.at(-1);
      byTarget.set(target, Array.isArray(values) ? values : [name]);
    }
    return { property, choices: [...byTarget].map(([target, values]) => ({ target, values })) };
  }
}

/**
 * Compiles a schema when a value first reaches it. Ajv compiles what a schema refers to within it, which overflows the
 * stack if many schemas refer to each other. If a schema combines itself, a value to which it is still being applied fits.
 */
function compileOnFirstUse(ajv: Ajv2020, name: string, listProperties: () => Iterable<string>): void {
  const entry = ajv.schemas[name]!;
  const valuesInProgress = new Set<unknown>();
  let compiled: ValidateFunction | undefined;
  const compile = () => {
    // Ajv compiles an entry that has no validator.
    delete entry.validate;
    const result = ajv.getSchema(name)!;
    entry.validate = validate;
    return result;
  };
  const validate = ((data, context) => {
    if (valuesInProgress.has(data)) {
      // For `unevaluatedProperties` around this schema. Dynamic, since another call may evaluate more.
      const props = Object.fromEntries([...listProperties()].map((property) => [property, true as const]));
      validate.evaluated = { props, dynamicProps: true, dynamicItems: true };
      return true;
    }
    valuesInProgress.add(data);
    try {
      compiled ??= compile();
      const fits = compiled(data, context);
      validate.errors = compiled.errors ?? null;
      validate.evaluated = compiled.evaluated!;
      return fits;
    } finally {
      valuesInProgress.delete(data);
    }
  }) as ValidateFunction;
  entry.validate = validate;
}

/** Applies `nullable` of OpenAPI 3.0. */
export function allowNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (type === undefined || ["allOf", "anyOf", "oneOf", "const"].some((key) => schema[key] !== undefined))
    return { anyOf: [schema, { type: "null" }] };
  const types = [...new Set([type, "null"].flat())];
  return { ...schema, type: types, ...(Array.isArray(values) && { enum: [...new Set([...values, null])] }) };
}

/** Changes the type null, as YAML reads `null`, to "null". */
export function replaceNullType(schema: JsonObject): void {
  const { type } = schema;
  if (type === null || (Array.isArray(type) && type.includes(null))) schema["type"] = listOwnTypes(schema);
}

/** In OpenAPI 3.0 `exclusiveMinimum` is a boolean about `minimum`; makes it a number in place. */
export function convertExclusiveBounds(schema: JsonObject): void {
  for (const bound of ["minimum", "maximum"]) {
    const exclusive = bound.replace(/^m/, "exclusiveM");
    if (typeof schema[exclusive] !== "boolean") continue;
    if (schema[exclusive] && typeof schema[bound] === "number") {
      schema[exclusive] = schema[bound];
      delete schema[bound];
    } else delete schema[exclusive];
  }
}

/** Compiles a pattern with the flag `u`, or without it for patterns such as `[\w\-]`. */
export function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return new RegExp(pattern);
  }
}

export function isPattern(pattern: unknown): boolean {
  try {
    toRegExp(pattern as string);
    return typeof pattern === "string";
  } catch {
    return false;
  }
}
