import "./api.css";
import { useDeferredValue, useMemo } from "react";
import { useParameters } from "../../address.ts";
import { listOperations, type Operation } from "../../api/open-api.ts";
import { useFidelity, useOpenApi } from "../../api/queries.ts";
import { FilterField } from "../../components/form.tsx";
import { ListView } from "../../components/layout.tsx";
import { EmptyState } from "../../components/status.tsx";
import { ClippedPath, containsWords } from "../../components/text.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import { describeSection, OperationPane, type Provenance, ProvenanceBadge } from "./operation-pane.tsx";

interface Row extends Operation {
  provenance: Provenance;
}

const COLUMNS: readonly Column<Row>[] = [
  { id: "operationId", title: "Operation", width: "minmax(9rem, 1fr)" },
  {
    id: "path",
    title: "Endpoint",
    renderCell: ({ method, path }) => (
      <code className="endpoint">
        <strong>{method}</strong> <ClippedPath>{path}</ClippedPath>
      </code>
    ),
    width: "minmax(10rem, 2fr)",
    minTableWidth: "medium",
  },
  {
    id: "x-section",
    title: "Described in",
    renderCell: (one) => !one["x-own"] && describeSection(one["x-section"]),
    width: "8.5rem",
    minTableWidth: "wide",
  },
  {
    id: "provenance",
    title: "Source",
    renderCell: ({ provenance }) => <ProvenanceBadge provenance={provenance} />,
    width: "8rem",
  },
];

export default function Api() {
  const { get, set } = useParameters();
  const openApi = useOpenApi();
  const fidelity = useFidelity();
  const typed = get("filter") ?? "";
  const filter = useDeferredValue(typed);
  const rows = useMemo(() => {
    if (!openApi.data || !fidelity.data) return undefined;
    const provenance = new Map(fidelity.data.operations.map((one) => [one.id, one.provenance]));
    return listOperations(openApi.data)
      .map(
        (one): Row => ({
          ...one,
          provenance: one["x-own"] ? "own" : (provenance.get(one.operationId) ?? "specified"),
        }),
      )
      .filter((one) =>
        containsWords(
          `${one.operationId} ${one.method} ${one.path} ${one.summary} ${one.provenance}`,
          filter,
        ),
      );
  }, [openApi.data, fidelity.data, filter]);
  return (
    <ListView
      head={
        <div className="page-head">
          <h1>API</h1>
          <FilterField
            label="Filter"
            placeholder="Filter by name, method, path, source"
            value={typed}
            onChange={(filter) => set({ filter }, { replace: true })}
          />
        </div>
      }
      error={openApi.error ?? fidelity.error}
      label="Operations"
      notFoundKind={typed === "" ? "operation" : undefined}
      columns={COLUMNS}
      rows={rows}
      getKey={({ operationId }) => operationId}
      selected={get("operation")}
      onSelect={({ operationId }) => set({ operation: operationId })}
      empty={<EmptyState title={`No operations match “${typed}”`} />}
      pane={(operation) => (
        <OperationPane
          operation={operation}
          components={openApi.data!.components}
          fidelity={fidelity.data!}
          onClose={() => set({ operation: undefined })}
        />
      )}
    />
  );
}
