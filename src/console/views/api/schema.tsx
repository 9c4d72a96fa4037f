import { type JsonSchema, resolveSchema, type SchemaComponents, withoutNull } from "../../api/open-api.ts";

const MAX_DEPTH = 6;
/** Schemas of users' documents may be wide, and refer to each other. */
const MAX_LINES = 400;
/** Alternatives that a type names. */
const MAX_NAMED = 50;

/** The number of parts that an example or a type may still have. */
interface Room {
  left: number;
}

/** An example value from a schema's examples and defaults; of an object only the required properties. */
export function makeExample(
  schema: JsonSchema,
  components: SchemaComponents,
  depth = 0,
  room: Room = { left: MAX_LINES },
): unknown {
  const one = resolveSchema(schema, components);
  if (one.examples?.[0] !== undefined) return one.examples[0];
  if (one.const !== undefined) return one.const;
  if (one.enum?.[0] !== undefined) return one.enum[0];
  if (one.default !== undefined) return one.default;
  const alternative = one.anyOf?.[0] ?? one.oneOf?.[0];
  if (depth > MAX_DEPTH || room.left <= 0) return null;
  if (alternative !== undefined) return makeExample(alternative, components, depth + 1, room);
  const type = typeof one.type === "string" ? one.type : one.type?.[0];
  if (type === "array") return one.items ? [makeExample(one.items, components, depth + 1, room)] : [];
  if (type === "object" || one.properties) return makeExampleObject(one, components, depth, room);
  return PLAIN[type ?? ""] ?? (one.format === "date-time" ? "2026-03-15T12:00:00.000Z" : "text");
}

const PLAIN: Readonly<Record<string, unknown>> = { integer: 1, number: 1, boolean: true, null: null };

function makeExampleObject(schema: JsonSchema, components: SchemaComponents, depth: number, room: Room) {
  const { properties = {}, required = [] } = schema;
  const without = schema.if?.required?.some((name) => !required.includes(name)) ?? false;
  const names = [...required, ...(without ? (schema.else?.required ?? []) : [])];
  room.left -= names.length;
  return Object.fromEntries(
    names.map((name) => [name, makeExample(properties[name] ?? {}, components, depth + 1, room)]),
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
export function listFields(schema: JsonSchema, components: SchemaComponents): SchemaLine[] {
  const lines: SchemaLine[] = [];
  const add = (part: JsonSchema, depth: number, path: string): void => {
    const { present } = withoutNull(part, components);
    if (depth > MAX_DEPTH || path.length > MAX_LINES) return;
    if (present.items) add(present.items, depth, `${path}[]`);
    for (const [name, property] of Object.entries(present.properties ?? {})) {
      if (lines.length >= MAX_LINES) return;
      const here = `${path}.${name}`;
      lines.push({
        path: here,
        name,
        depth,
        required: present.required?.includes(name) ?? false,
        type: formatType(property, components),
        about: withoutNull(property, components).present.description,
      });
      add(property, depth + 1, here);
    }
  };
  add(schema, 0, "");
  return lines;
}

export function formatType(
  schema: JsonSchema,
  components: SchemaComponents,
  depth = 0,
  room: Room = { left: MAX_NAMED },
): string {
  const one = resolveSchema(schema, components);
  if (depth > MAX_DEPTH) return "any";
  room.left -= 1;
  if (room.left < 0) return "…";
  if (one.const !== undefined) return JSON.stringify(one.const);
  if (one.enum) {
    const more = one.enum.length > MAX_NAMED ? " | …" : "";
    return (
      one.enum
        .slice(0, MAX_NAMED)
        .map((value) => JSON.stringify(value))
        .join(" | ") + more
    );
  }
  const several = one.anyOf ?? one.oneOf;
  if (several) {
    const shown = several.slice(0, Math.max(1, room.left + 1));
    return shown.map((each) => formatType(each, components, depth + 1, room)).join(" | ");
  }
  if (one.items) return `${formatType(one.items, components, depth + 1, room)}[]`;
  const type = [one.type ?? "any"].flat().join(" | ");
  return one.format ? `${type}, ${one.format}` : type;
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
