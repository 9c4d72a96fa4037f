import "./api.css";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { Input, SearchField } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { server } from "../../api/calls.ts";
import { listOperations, type Operation } from "../../api/open-api.ts";
import { useOpenApi } from "../../api/queries.ts";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { OperationPane } from "./operation-pane.tsx";

interface Row extends Operation {
  provenance: "specified" | "assumed";
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "operation",
    title: "Operation",
    value: ({ operationId }) => operationId,
    width: "minmax(9rem, 1fr)",
  },
  {
    id: "call",
    title: "Endpoint",
    value: ({ path }) => path,
    show: ({ method, path }) => (
      <code>
        <strong>{method}</strong> {path}
      </code>
    ),
    width: "minmax(10rem, 2fr)",
    from: "medium",
  },
  { id: "section", title: "Section", value: (row) => row["x-section"], width: "5rem", from: "wide" },
  {
    id: "provenance",
    title: "Provenance",
    value: ({ provenance }) => provenance,
    show: ({ provenance }) => <Provenance word={provenance} />,
    width: "8rem",
  },
];

/** Whether the reference documents the operation. */
export function Provenance({ word }: { word: Row["provenance"] }) {
  return <Badge outcome={word === "assumed" ? "refused" : "ok"}>{word}</Badge>;
}

const ALWAYS = { staleTime: Number.POSITIVE_INFINITY };

export default function Api() {
  const parameters = useParameters();
  const document = useOpenApi();
  const fidelity = useQuery({ queryKey: ["fidelity"], queryFn: () => server.fidelity(), ...ALWAYS });
  const typed = parameters.get("filter") ?? "";
  const filter = useDeferredValue(typed.toLowerCase());
  const rows = useMemo(() => {
    if (!document.data || !fidelity.data) return undefined;
    const provenance = new Map(fidelity.data.operations.map((one) => [one.id, one.provenance]));
    return listOperations(document.data)
      .map((one): Row => ({ ...one, provenance: provenance.get(one.operationId) ?? "specified" }))
      .filter((one) =>
        `${one.operationId} ${one.method} ${one.path} ${one.summary} ${one.provenance}`
          .toLowerCase()
          .includes(filter),
      );
  }, [document.data, fidelity.data, filter]);
  const open = rows?.find(({ operationId }) => operationId === parameters.get("operation"));
  return (
    <div className="split">
      <div className="page">
        <div className="page-head">
          <h1>API</h1>
          <SearchField
            className="field api-filter"
            aria-label="Filter"
            value={typed}
            onChange={(value) => parameters.set({ filter: value }, { replace: true })}
          >
            <Input className="input" placeholder="Filter by name, method, path, provenance" />
          </SearchField>
        </div>
        <LoadError error={document.error ?? fidelity.error} />
        <VirtualTable
          label="Operations"
          columns={COLUMNS}
          rows={rows}
          getKey={({ operationId }) => operationId}
          selected={open?.operationId}
          onSelect={({ operationId }) => parameters.set({ operation: operationId })}
          empty={<EmptyState title={`No operations match “${typed}”`} />}
        />
      </div>
      {open && document.data && fidelity.data && (
        <OperationPane
          key={open.operationId}
          operation={open}
          components={document.data.components}
          ledger={fidelity.data}
          onClose={() => parameters.set({ operation: undefined })}
        />
      )}
    </div>
  );
}
