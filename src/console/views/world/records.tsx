import { useMemo } from "react";
import { Button, Input, SearchField } from "react-aria-components";
import { Link } from "wouter";
import type { CollectionName } from "../../../../types/control-api.ts";
import { toAddress, useGo, useParameters, useSandboxName } from "../../address.ts";
import type { CollectionSummary } from "../../api/calls.ts";
import type { Fields } from "../../api/form-fields.ts";
import { useDescription, useSandboxQuery } from "../../api/queries.ts";
import { ChoiceField } from "../../components/form.tsx";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { useSandboxNow } from "../../components/time.tsx";
import { VirtualTable } from "../../components/virtual-table.tsx";
import { useFiltered } from "./filter-records.ts";
import { recordColumns, recordFields } from "./record-columns.tsx";
import { NewRecord, RecordPane } from "./record-pane.tsx";

/** Larger collections are not refetched while the sandbox is busy. */
const MAX_LIVE_RECORDS = 5000;
const NEW = "+";

export function Records() {
  const { data, error } = useSandboxQuery(["collections"], (calls) => calls.collections());
  const parameters = useParameters();
  const collections = data?.items ?? [];
  const wanted = parameters.get("collection") ?? "organizations";
  const chosen = collections.find(({ name }) => name === wanted);
  return (
    <div className="world-records">
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
  const sandbox = useSandboxName();
  const go = useGo();
  return (
    <>
      <nav className="collections" aria-label="Collections">
        {collections.map(({ name, records }) => (
          <Link
            key={name}
            className="collection"
            href={toAddress(sandbox, "world", { collection: name })}
            aria-current={name === chosen ? "page" : undefined}
          >
            <span className="clip">{name}</span>
            <span className="quiet">{records.toLocaleString("en-GB")}</span>
          </Link>
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
            detail: records.toLocaleString("en-GB"),
          }))}
        />
      </div>
    </>
  );
}

function Collection({ collection: { name, id_field, records } }: { collection: CollectionSummary }) {
  const parameters = useParameters();
  const typed = parameters.get("filter") ?? "";
  const now = Math.floor(useSandboxNow() / 60_000) * 60_000;
  const { data: description } = useDescription();
  const query = useSandboxQuery(["records", name], (calls) => calls.records(name as CollectionName), {
    live: records <= MAX_LIVE_RECORDS,
  });
  const fields = useMemo(() => (description ? recordFields(description, name) : []), [description, name]);
  const columns = useMemo(() => recordColumns(fields, id_field, now), [fields, id_field, now]);
  const all = (query.data?.items ?? NONE) as unknown as readonly Fields[];
  const found = useFiltered(all, typed);

  const open = parameters.get("record");
  const show = (record: string | undefined) => parameters.set({ record });
  return (
    <div className="split">
      <div className="page">
        <div className="world-tools">
          <SearchField
            className="field"
            aria-label="Filter"
            value={typed}
            onChange={(filter) => parameters.set({ filter }, { replace: true })}
          >
            <Input className="input" placeholder="Filter by text or status:running" />
          </SearchField>
          <span className="quiet" aria-live="polite">
            {typed && found ? `${found.length.toLocaleString("en-GB")} of ` : ""}
            {all.length.toLocaleString("en-GB")}
          </span>
          {records > MAX_LIVE_RECORDS && (
            <Button className="button" isPending={query.isFetching} onPress={() => query.refetch()}>
              Reload
            </Button>
          )}
          <Button className="button" onPress={() => show(NEW)}>
            New record
          </Button>
        </div>
        <LoadError error={query.error} />
        <VirtualTable
          label={name}
          columns={columns}
          rows={query.data && found}
          getKey={(record) => String(record[id_field])}
          selected={open}
          onSelect={(record) => show(String(record[id_field]))}
          empty={
            typed ? (
              <EmptyState title={`No records match “${typed}”`} />
            ) : (
              <EmptyState title={`No ${name.replaceAll("_", " ")}`}>
                Create one with “New record” or by an API call.
              </EmptyState>
            )
          }
        />
      </div>
      {open === NEW && fields.length > 0 && (
        <NewRecord
          collection={name}
          idField={id_field}
          fields={fields}
          onClose={() => show(undefined)}
          onCreated={show}
        />
      )}
      {open !== undefined && open !== NEW && fields.length > 0 && (
        <RecordPane key={open} collection={name} id={open} fields={fields} onClose={() => show(undefined)} />
      )}
    </div>
  );
}

const NONE: readonly never[] = [];
