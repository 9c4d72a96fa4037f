import { type ReactNode, useDeferredValue, useMemo } from "react";
import { useGo, useParameters } from "../../address.ts";
import type { CollectionSummary } from "../../api/calls.ts";
import { type Fields, type FormField, listFormFields } from "../../api/form-fields.ts";
import type { ControlDescription } from "../../api/open-api.ts";
import { useCollections, useDescription, useRecords } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { ChoiceField, FilterField } from "../../components/form.tsx";
import { ListView, ViewLink } from "../../components/layout.tsx";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { formatCount } from "../../components/text.tsx";
import { Ago } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import { useFiltered } from "./filter-records.ts";
import { NewRecord, RecordPane } from "./record-pane.tsx";

/** Larger collections are searched by the server, and shown page by page. */
const MAX_WHOLE = 5000;
const PAGE = 500;
const NEW = "+";

export function Records() {
  const { data, error } = useCollections();
  const collections = data?.items ?? [];
  const wanted = useParameters().get("collection") ?? "organizations";
  const chosen = collections.find(({ name }) => name === wanted);
  return (
    <div className="world-records grow">
      <LoadError error={error} />
      <Collections collections={collections} chosen={wanted} />
      {chosen && <Collection key={chosen.name} collection={chosen} />}
      {data && !chosen && (
        <EmptyState title={`Collection ${wanted} not found`}>Select another one.</EmptyState>
      )}
    </div>
  );
}

/** A list of links, or a select in narrow windows. */
function Collections({ collections, chosen }: { collections: readonly CollectionSummary[]; chosen: string }) {
  const go = useGo();
  return (
    <>
      <nav className="collections stack" aria-label="Collections">
        {collections.map(({ name, records }) => (
          <ViewLink
            key={name}
            className="tab collection"
            view="world"
            query={{ collection: name }}
            aria-current={name === chosen ? "page" : undefined}
          >
            <span className="clip">{name}</span>
            <span className="quiet">{formatCount(records)}</span>
          </ViewLink>
        ))}
      </nav>
      <div className="collections-choice">
        <ChoiceField
          label="Collection"
          name="collection"
          value={chosen}
          onChange={(collection) => go("world", { collection })}
          choices={collections.map(({ name, records }) => ({
            id: name,
            title: name,
            detail: formatCount(records),
          }))}
        />
      </div>
    </>
  );
}

function Collection({ collection }: { collection: CollectionSummary }) {
  const { name, id_field, records, schema } = collection;
  const { get, set } = useParameters();
  const typed = get("filter") ?? "";
  const { data: description } = useDescription();
  const isPaged = records > MAX_WHOLE;
  const offset = Number(get("offset")) || 0;
  const contains = useDeferredValue(typed.trim());
  const query = useRecords(name, isPaged ? { limit: PAGE, offset, ...(contains && { contains }) } : {}, {
    live: !isPaged,
  });
  const total = query.data?.total ?? records;
  const fields = useMemo(() => {
    if (schema !== undefined) return listFormFields(schema, NO_COMPONENTS);
    return description ? recordFields(description, name) : [];
  }, [description, name, schema]);
  const columns = useMemo(() => recordColumns(fields, id_field), [fields, id_field]);
  const all = (query.data?.items ?? NONE) as unknown as readonly Fields[];
  const filtered = useFiltered(all, isPaged ? "" : typed);
  const found = isPaged ? all : filtered;
  const selected = get("record");
  const select = (record: string | undefined) => set({ record });
  const pane = { collection: name, fields, onClose: () => select(undefined) };
  const hasForm = fields.length > 0;
  return (
    <ListView
      head={
        <div className="tools">
          <FilterField
            label="Filter"
            placeholder={isPaged ? "Words" : "Text or status:running"}
            value={typed}
            onChange={(filter) => set({ filter, offset: undefined }, { replace: true })}
          />
          <span className="quiet" aria-live="polite">
            {isPaged
              ? `${formatCount(Math.min(offset + 1, total))} to ${formatCount(Math.min(offset + PAGE, total))} of ${formatCount(total)}`
              : `${typed && found ? `${formatCount(found.length)} of ` : ""}${formatCount(all.length)}`}
          </span>
          {isPaged && (
            <>
              <ActionButton
                label="Previous"
                isDisabled={offset === 0}
                onPress={() => set({ offset: String(Math.max(0, offset - PAGE)) })}
              />
              <ActionButton
                label="Next"
                isDisabled={offset + PAGE >= total}
                onPress={() => set({ offset: String(offset + PAGE) })}
              />
              <ActionButton label="Reload" isPending={query.isFetching} onPress={query.refetch} />
            </>
          )}
          <ActionButton label="New record" onPress={() => select(NEW)} />
        </div>
      }
      error={query.error}
      label={name}
      columns={columns}
      rows={query.data && found}
      getKey={(record) => String(record[id_field])}
      selected={selected}
      onSelect={(record) => select(String(record[id_field]))}
      empty={
        typed ? (
          <EmptyState title={`No records match “${typed}”`} />
        ) : (
          <EmptyState title={`No ${name.replaceAll("_", " ")}`}>
            Create one with “New record” or by an API call.
          </EmptyState>
        )
      }
      // Also shows a record that the filter hides, or reports one that does not exist.
      otherPane={
        hasForm &&
        selected &&
        (selected === NEW ? (
          <NewRecord {...pane} idField={id_field} onCreated={select} />
        ) : (
          <RecordPane key={selected} {...pane} id={selected} />
        ))
      }
    />
  );
}

const NONE: readonly never[] = [];
const NO_COMPONENTS = { schemas: {} };
const RECORD = "/_control/sandboxes/{name}/state/{collection}/{id}";

function recordFields({ paths, components }: ControlDescription, collection: string): FormField[] {
  const content = paths[RECORD]!.get.responses["200"]!.content["application/json"]!;
  const schema = content["x-schema-by"]?.schemas[collection];
  return schema ? listFormFields(schema, components) : [];
}

/** Fields that name a record, best first. */
const NAME_FIELDS = [
  ...["name", "title", "filename", "entity_name", "resource_name", "event"],
  ...["text", "message", "url", "key", "slug"],
];
const LONG = new Set(["description", "instructions", "content", "body", "path"]);
const MEDIUM_COLUMNS = 2;
const WIDE_COLUMNS = 3;

/** Columns for the id, the name, and as many other fields as fit. One timestamp is enough. */
function recordColumns(fields: readonly FormField[], idField: string): readonly Column<Fields>[] {
  const id = fields.filter(({ name }) => name === idField);
  const plain = fields.filter(({ name, kind }) => kind !== "json" && name !== idField && !LONG.has(name));
  const nameField = NAME_FIELDS.find((name) => plain.some((field) => field.name === name));
  const rest = plain.filter(({ name }) => name !== nameField);
  const others = rest.filter(({ instant }) => !instant).slice(0, MEDIUM_COLUMNS + WIDE_COLUMNS - 1);
  return [
    ...id.map((field) => makeColumn(field, undefined, "minmax(8rem, 1fr)")),
    ...plain
      .filter(({ name }) => name === nameField)
      .map((field) => makeColumn(field, undefined, "minmax(6rem, 1.4fr)")),
    ...others.map((field, at) => makeColumn(field, at < MEDIUM_COLUMNS ? "medium" : "wide")),
    ...rest
      .filter(({ instant }) => instant)
      .slice(0, 1)
      .map((field) => makeColumn(field, "wide")),
  ];
}

function makeColumn(
  { name, kind, instant }: FormField,
  from: "medium" | "wide" | undefined,
  width = kind === "number" ? "7rem" : "minmax(6rem, 0.8fr)",
): Column<Fields> {
  return {
    id: name,
    title: name,
    value: ({ [name]: value }) => (typeof value === "number" ? value : String(value ?? "")),
    show: ({ [name]: value }) => formatCell(value, instant),
    width,
    from,
    number: kind === "number",
  };
}

function formatCell(value: unknown, instant: boolean): ReactNode {
  if (value === null || value === undefined) return <span className="quiet">null</span>;
  return instant ? <Ago at={String(value)} /> : String(value);
}
