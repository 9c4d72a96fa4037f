import type { ReactNode } from "react";
import type { Fields, FormField } from "../../api/form-fields.ts";
import { absolute, relative } from "../../parts/time.tsx";
import type { Column } from "../../parts/virtual-table.tsx";

/** What a person knows a record by, first what tells most. */
const TELLING = [
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

/** Its id, what it is known by, and as many further fields as there is room for. */
export function recordColumns(
  fields: readonly FormField[],
  idField: string,
  now: number,
): readonly Column<Fields>[] {
  const id = fields.find(({ name }) => name === idField);
  const plain = fields.filter(({ name, kind }) => kind !== "json" && name !== idField && !LONG.has(name));
  const telling = TELLING.map((name) => plain.find((field) => field.name === name)).find(Boolean);
  const rest = plain
    .filter((field) => field !== telling)
    .toSorted((a, b) => Number(a.instant) - Number(b.instant));
  // An instant tells when; one of them has its place.
  const instants = rest.filter(({ instant }) => instant).slice(0, 1);
  const others = rest.filter(({ instant }) => !instant).slice(0, MEDIUM_COLUMNS + WIDE_COLUMNS - 1);
  return [
    ...(id ? [columnOf(id, now, undefined, "minmax(8rem, 1fr)")] : []),
    ...(telling ? [columnOf(telling, now, undefined, "minmax(6rem, 1.4fr)")] : []),
    ...others.map((field, at) => columnOf(field, now, at < MEDIUM_COLUMNS ? "medium" : "wide")),
    ...instants.map((field) => columnOf(field, now, "wide")),
  ];
}

const LONG = new Set(["description", "instructions", "content", "body", "path"]);

function columnOf(
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
