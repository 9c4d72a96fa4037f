import { type JsonSchema, resolveSchema, type SchemaComponents, splitNull } from "../../api/open-api.ts";

const MAX_DEPTH = 6;
/** Schemas of users' documents may be wide, and refer to each other. */
const MAX_LINES = 400;
/** Characters; lists within lists make a path longer without making it deeper. */
const MAX_PATH_LENGTH = 400;
const MAX_ALTERNATIVES = 50;

/** The number of parts that an example or a type may still have. */
interface Budget {
  partsLeft: number;
}

/** Requests omit properties that are `readOnly`, responses those that are `writeOnly` (OpenAPI). */
type Direction = "request" | "response";

const OMITTED = { request: "readOnly", response: "writeOnly" } as const;

/** An example value from a schema's examples and defaults; of an object only the required properties. */
export function makeExample(
  schema: JsonSchema,
  components: SchemaComponents,
  direction: Direction = "response",
  depth = 0,
  budget: Budget = { partsLeft: MAX_LINES },
): unknown {
  const resolved = resolveSchema(schema, components);
  if (resolved.examples?.[0] !== undefined) return resolved.examples[0];
  if (resolved.example !== undefined) return resolved.example;
  if (resolved.const !== undefined) return resolved.const;
  if (resolved.enum?.[0] !== undefined) return resolved.enum[0];
  if (resolved.default !== undefined) return resolved.default;
  if (depth > MAX_DEPTH || budget.partsLeft <= 0) return null;
  const { anyOf, oneOf, ...rest } = resolved;
  const alternative = anyOf?.[0] ?? oneOf?.[0];
  if (alternative !== undefined)
    return makeExample({ allOf: [rest, alternative] }, components, direction, depth + 1, budget);
  const type = typeof resolved.type === "string" ? resolved.type : resolved.type?.[0];
  if (type === "array")
    return resolved.items ? [makeExample(resolved.items, components, direction, depth + 1, budget)] : [];
  if (type === "object" || resolved.properties)
    return makeExampleObject(resolved, components, direction, depth, budget);
  if (Object.hasOwn(PLAIN_EXAMPLES, type ?? "")) return PLAIN_EXAMPLES[type ?? ""];
  return resolved.format === "date-time" ? "2026-03-15T12:00:00.000Z" : "text";
}

const PLAIN_EXAMPLES: Readonly<Record<string, unknown>> = {
  integer: 1,
  number: 1,
  boolean: true,
  null: null,
};

function makeExampleObject(
  schema: JsonSchema,
  components: SchemaComponents,
  direction: Direction,
  depth: number,
  budget: Budget,
) {
  const { properties = {}, required = [] } = schema;
  // Without the properties that `if` requires, `else` applies.
  const needsElse = schema.if?.required?.some((name) => !required.includes(name)) ?? false;
  const names = [...required, ...(needsElse ? (schema.else?.required ?? []) : [])].filter(
    (name) => !resolveSchema(properties[name] ?? {}, components)[OMITTED[direction]],
  );
  budget.partsLeft -= names.length;
  return Object.fromEntries(
    names.map((name) => [
      name,
      makeExample(properties[name] ?? {}, components, direction, depth + 1, budget),
    ]),
  );
}

interface SchemaLine {
  path: string;
  name: string;
  depth: number;
  required: boolean;
  type: string;
  about: string | undefined;
}

/** Properties of a schema, depth first. */
export function listFields(
  schema: JsonSchema,
  components: SchemaComponents,
  direction: Direction = "response",
): SchemaLine[] {
  const lines: SchemaLine[] = [];
  const add = (part: JsonSchema, depth: number, path: string): void => {
    const { nonNull } = splitNull(part, components);
    if (depth > MAX_DEPTH || path.length > MAX_PATH_LENGTH) return;
    if (nonNull.items) add(nonNull.items, depth, `${path}[]`);
    for (const [name, property] of Object.entries(nonNull.properties ?? {})) {
      if (lines.length >= MAX_LINES) return;
      if (resolveSchema(property, components)[OMITTED[direction]]) continue;
      const propertyPath = `${path}.${name}`;
      lines.push({
        path: propertyPath,
        name,
        depth,
        required: nonNull.required?.includes(name) ?? false,
        type: formatType(property, components),
        about: splitNull(property, components).nonNull.description,
      });
      add(property, depth + 1, propertyPath);
    }
  };
  add(schema, 0, "");
  return lines;
}

export function formatType(
  schema: JsonSchema,
  components: SchemaComponents,
  depth = 0,
  budget: Budget = { partsLeft: MAX_ALTERNATIVES },
): string {
  const resolved = resolveSchema(schema, components);
  if (depth > MAX_DEPTH) return "any";
  budget.partsLeft -= 1;
  if (budget.partsLeft < 0) return "…";
  if (resolved.const !== undefined) return JSON.stringify(resolved.const);
  if (resolved.enum) {
    const values = resolved.enum.slice(0, MAX_ALTERNATIVES).map((value) => JSON.stringify(value));
    return values.join(" | ") + (values.length < resolved.enum.length ? " | …" : "");
  }
  const alternatives = resolved.anyOf ?? resolved.oneOf;
  // Beside properties, they only say more about these.
  if (alternatives && !resolved.properties) {
    const firstAlternatives = alternatives.slice(0, Math.max(1, budget.partsLeft + 1));
    return firstAlternatives.map((each) => formatType(each, components, depth + 1, budget)).join(" | ");
  }
  if (resolved.items) {
    const itemType = formatType(resolved.items, components, depth + 1, budget);
    return itemType.includes(" ") ? `(${itemType})[]` : `${itemType}[]`;
  }
  const type = [resolved.type ?? "any"].flat().join(" | ");
  return resolved.format ? `${type}, ${resolved.format}` : type;
}

export function SchemaTable({ lines }: { lines: readonly SchemaLine[] }) {
  if (lines.length === 0) return null;
  return (
    <ul className="schema">
      {lines.map(({ path, name, depth, required, type, about }) => (
        <li key={path} style={{ paddingLeft: `${depth * 1.1}rem` }}>
          <code>
            {name}
            {!required && <span className="quiet">?</span>}
          </code>{" "}
          <span className="quiet">{type}</span>
          {about && <span> {about}</span>}
        </li>
      ))}
    </ul>
  );
}
