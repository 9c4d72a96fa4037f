import type { ReactNode } from "react";
import { type Fields, type FormField, formFields } from "../../api/form-fields.ts";
import type { ControlDescription } from "../../api/open-api.ts";
import { absolute, relative } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";

/** Fields that name a record, best first. */
const NAME_FIELDS = [
  "name",
  "title",
  "filename",
  "entity_name",
  "resource_name",
  "event",
  "text",
  "message",
  "url",
  "key",
  "slug",
];
const MEDIUM_COLUMNS = 2;
const WIDE_COLUMNS = 3;

/** Columns for the id, the name, and as many other fields as fit. */
export function recordColumns(
  fields: readonly FormField[],
  idField: string,
  now: number,
): readonly Column<Fields>[] {
  const id = fields.find(({ name }) => name === idField);
  const plain = fields.filter(({ name, kind }) => kind !== "json" && name !== idField && !LONG.has(name));
  const nameField = NAME_FIELDS.map((name) => plain.find((field) => field.name === name)).find(Boolean);
  const rest = plain
    .filter((field) => field !== nameField)
    .toSorted((a, b) => Number(a.instant) - Number(b.instant));
  // One timestamp is enough.
  const instants = rest.filter(({ instant }) => instant).slice(0, 1);
  const others = rest.filter(({ instant }) => !instant).slice(0, MEDIUM_COLUMNS + WIDE_COLUMNS - 1);
  return [
    ...(id ? [makeColumn(id, now, undefined, "minmax(8rem, 1fr)")] : []),
    ...(nameField ? [makeColumn(nameField, now, undefined, "minmax(6rem, 1.4fr)")] : []),
    ...others.map((field, at) => makeColumn(field, now, at < MEDIUM_COLUMNS ? "medium" : "wide")),
    ...instants.map((field) => makeColumn(field, now, "wide")),
  ];
}

const LONG = new Set(["description", "instructions", "content", "body", "path"]);

function makeColumn(
  field: FormField,
  now: number,
  from: "medium" | "wide" | undefined,
  width = field.kind === "number" ? "7rem" : "minmax(6rem, 0.8fr)",
): Column<Fields> {
  const { name, kind, instant } = field;
  return {
    id: name,
    title: name,
    value: (record) => sortable(record[name]),
    show: (record) => shown(record[name], instant, now),
    width,
    ...(from && { from }),
    ...(kind === "number" && { number: true }),
  };
}

function sortable(value: unknown): string | number {
  return typeof value === "number" ? value : String(value ?? "");
}

function shown(value: unknown, instant: boolean, now: number): ReactNode {
  if (value === null || value === undefined) return <span className="quiet">null</span>;
  if (!instant) return String(value);
  const at = String(value);
  return (
    <time dateTime={at} title={absolute(at)}>
      {relative(Date.parse(at), now)}
    </time>
  );
}

const RECORD = "/_control/sandboxes/{name}/state/{collection}/{id}";

/** Fields of a collection, from the control API's document. */
export function recordFields({ paths, components }: ControlDescription, collection: string): FormField[] {
  const content = paths[RECORD]!.get.responses["200"]!.content["application/json"]!;
  const schema = content["x-schema-by"]?.schemas[collection];
  return schema ? formFields(schema, components) : [];
}
