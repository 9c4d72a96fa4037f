import { type ReactNode, useDeferredValue, useMemo } from "react";
import { getOwn } from "../../../engine/maps.ts";
import { NEW_RECORD, useNavigateToView, useParameters } from "../../address.ts";
import type { CollectionSummary } from "../../api/calls.ts";
import { type Fields, type FormField, listFormFields } from "../../api/form-fields.ts";
import type { ControlDescription } from "../../api/open-api.ts";
import { useCollections, useControlDescription, useRecords } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { createMatcher, parseFilter, toSearchText } from "../../components/filter-language.ts";
import { ChoiceField, FilterField } from "../../components/form.tsx";
import { ListView, revealElement, ViewLink } from "../../components/layout.tsx";
import { EmptyState, LoadError } from "../../components/status.tsx";
import { formatCount, formatShown } from "../../components/text.tsx";
import { RelativeTimeText } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import { NewRecord, RecordPane } from "./record-pane.tsx";

/** Larger collections are searched by the server, and shown page by page. */
const MAX_UNPAGED = 5000;
const PAGE_SIZE = 500;

export function Records() {
  const { data, error } = useCollections();
  const collections = data?.items ?? [];
  const selectedName = useParameters().get("collection") ?? "organizations";
  const selectedCollection = collections.find(({ name }) => name === selectedName);
  return (
    <div className="world-records grow">
      <LoadError error={error} />
      <Collections collections={collections} selectedName={selectedName} />
      {selectedCollection && <Collection key={selectedCollection.name} collection={selectedCollection} />}
      {data && !selectedCollection && (
        <EmptyState title={`Collection ${selectedName} not found`}>Select another one.</EmptyState>
      )}
    </div>
  );
}

function Collections(props: { collections: readonly CollectionSummary[]; selectedName: string }) {
  const { collections, selectedName } = props;
  const navigateToView = useNavigateToView();
  return (
    <>
      <nav className="collections stack" aria-label="Collections">
        {collections.map(({ name, records }) => (
          <ViewLink
            key={name}
            className="tab collection"
            view="world"
            query={{ collection: name }}
            aria-current={name === selectedName ? "page" : undefined}
          >
            <span className="clip" ref={name === selectedName ? revealElement : undefined}>
              {name}
            </span>
            <span className="quiet">{formatCount(records)}</span>
          </ViewLink>
        ))}
      </nav>
      <div className="collections-choice">
        <ChoiceField
          label="Collection"
          name="collection"
          value={selectedName}
          onChange={(collection) => navigateToView("world", { collection })}
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
  const { data: description } = useControlDescription();
  const isPaged = records > MAX_UNPAGED;
  const offset = Math.min(Number(get("offset")) || 0, Math.floor((records - 1) / PAGE_SIZE) * PAGE_SIZE);
  const filter = useDeferredValue(typed.trim());
  const page = { limit: PAGE_SIZE, offset, ...(filter && { contains: filter }) };
  const query = useRecords(name, isPaged ? page : {}, { live: !isPaged });
  const total = query.data?.total ?? records;
  const fields = useMemo(() => {
    if (schema !== undefined) return listFormFields(schema, NO_COMPONENTS);
    return description ? listRecordFields(description, name) : [];
  }, [description, name, schema]);
  const columns = useMemo(() => createRecordColumns(fields, id_field), [fields, id_field]);
  const loadedRecords = (query.data?.items ?? NONE) as unknown as readonly Fields[];
  const visibleRecords = useMemo(() => {
    if (isPaged || filter === "") return loadedRecords;
    const joinText = (record: Fields) => Object.values(record).map(toSearchText).join("\n");
    return loadedRecords.filter(createMatcher(parseFilter(filter), readField, joinText));
  }, [isPaged, filter, loadedRecords]);
  const selectedId = get("record");
  const select = (record: string | undefined) => set({ record });
  const pane = { collection: name, fields, onClose: () => select(undefined) };
  const hasForm = fields.length > 0;
  return (
    <ListView
      head={
        <div className="tools">
          <FilterField
            label="Filter"
            placeholder={isPaged ? "Text in the records" : "Filter: text or field:value"}
            value={typed}
            onChange={(filter) => set({ filter, offset: undefined }, { replace: true })}
          />
          <span className="quiet" aria-live="polite">
            {isPaged
              ? `${formatCount(Math.min(offset + 1, total))} to ${formatCount(Math.min(offset + PAGE_SIZE, total))} of ${formatCount(total)}`
              : formatShown(visibleRecords.length, loadedRecords.length, "record")}
          </span>
          {isPaged && (
            <>
              <ActionButton
                label="Previous"
                isDisabled={offset === 0}
                onPress={() => set({ offset: String(Math.max(0, offset - PAGE_SIZE)) })}
              />
              <ActionButton
                label="Next"
                isDisabled={offset + PAGE_SIZE >= total}
                onPress={() => set({ offset: String(offset + PAGE_SIZE) })}
              />
              <ActionButton label="Reload" isPending={query.isFetching} onPress={query.refetch} />
            </>
          )}
          <ActionButton label="New record" onPress={() => select(NEW_RECORD)} />
        </div>
      }
      error={query.error}
      label={name}
      columns={columns}
      rows={query.data && visibleRecords}
      getKey={(record) => String(record[id_field])}
      selected={selectedId}
      onSelect={(record) => select(String(record[id_field]))}
      empty={
        typed ? (
          <EmptyState title={`No ${offset > 0 ? "more " : ""}records match “${typed}”`}>
            {isPaged && "In a collection of this size, the filter finds one text, and no fields."}
          </EmptyState>
        ) : (
          <EmptyState title={`No ${name.replaceAll("_", " ")}`}>
            Create one with “New record” or by an API call.
          </EmptyState>
        )
      }
      // Also shows a record that the filter hides, or reports one that does not exist.
      otherPane={
        hasForm &&
        selectedId &&
        (selectedId === NEW_RECORD ? (
          <NewRecord {...pane} idField={id_field} onCreated={select} />
        ) : (
          <RecordPane key={selectedId} {...pane} id={selectedId} />
        ))
      }
    />
  );
}

/** The field with this name, which filters have in lower case. */
function readField(record: Fields, lowerCaseName: string): unknown {
  const name = Object.keys(record).find((one) => one.toLowerCase() === lowerCaseName);
  return name === undefined ? undefined : record[name];
}

const NONE: readonly never[] = [];
const NO_COMPONENTS = { schemas: {} };
const RECORD_PATH = "/_control/sandboxes/{name}/state/{collection}/{id}";

function listRecordFields({ paths, components }: ControlDescription, collection: string): FormField[] {
  const content = paths[RECORD_PATH]!.get.responses["200"]!.content["application/json"]!;
  const schema = content["x-schema-by"]?.schemas[collection];
  return schema ? listFormFields(schema, components) : [];
}

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
const LONG_FIELDS = new Set(["description", "instructions", "content", "body", "path"]);
/** Columns beside id and name: of tables of medium width, and those that wide tables add, including a timestamp. */
const MEDIUM_COLUMNS = 2;
const WIDE_COLUMNS = 3;

/** Columns for the id, the name, and as many other fields as fit. One timestamp is enough. */
function createRecordColumns(fields: readonly FormField[], idField: string): readonly Column<Fields>[] {
  const id = fields.filter(({ name }) => name === idField);
  const plain = fields.filter(
    ({ name, kind }) => kind !== "json" && name !== idField && !LONG_FIELDS.has(name),
  );
  const nameField = NAME_FIELDS.find((name) => plain.some((field) => field.name === name));
  const rest = plain.filter(({ name }) => name !== nameField);
  const others = rest.filter(({ isInstant }) => !isInstant).slice(0, MEDIUM_COLUMNS + WIDE_COLUMNS - 1);
  return [
    ...id.map((field) => makeColumn(field, undefined, "minmax(8rem, 1fr)")),
    ...plain
      .filter(({ name }) => name === nameField)
      .map((field) => makeColumn(field, undefined, "minmax(6rem, 1.4fr)")),
    ...others.map((field, at) => makeColumn(field, at < MEDIUM_COLUMNS ? "medium" : "wide")),
    ...rest
      .filter(({ isInstant }) => isInstant)
      .slice(0, 1)
      .map((field) => makeColumn(field, "wide")),
  ];
}

function makeColumn(
  { name, kind, isInstant }: FormField,
  minTableWidth: "medium" | "wide" | undefined,
  width = kind === "number" ? "7rem" : "minmax(6rem, 0.8fr)",
): Column<Fields> {
  return {
    id: name,
    title: name,
    value(record) {
      const value = getOwn(record, name);
      return typeof value === "number" ? value : String(value ?? "");
    },
    renderCell: (record) => formatCell(getOwn(record, name), isInstant),
    width,
    minTableWidth,
    isNumber: kind === "number",
  };
}

function formatCell(value: unknown, isInstant: boolean): ReactNode {
  if (value === null || value === undefined) return <span className="quiet">null</span>;
  return isInstant ? <RelativeTimeText at={String(value)} /> : String(value);
}
