import {
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  sortFn_alphanumeric,
  sortFn_basic,
  tableFeatures,
  useTable,
} from "@tanstack/react-table";
import { type ReactNode, useMemo, useState } from "react";
import { VirtualRows } from "./virtual-rows.tsx";

export interface Column<Row> {
  id: string;
  title: string;
  /** What it is sorted by. */
  value: (row: Row) => string | number;
  /** What is shown, where it is not the value itself. */
  show?: (row: Row) => ReactNode;
  /** As in CSS grid, such as `8rem` or `minmax(8rem, 1fr)`. */
  width: string;
  number?: boolean;
  /** Left out where the table is narrower than 40 or 64 rem. */
  from?: "medium" | "wide";
}

interface VirtualTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selected?: string | undefined;
  onSelect?: (row: Row) => void;
  empty: ReactNode;
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic },
});

const ROW_HEIGHT = 34;
/** More are put in the order of their characters: to tell 9 from 10 within a text takes a second of so many. */
const MANY = 10_000;

/** A table of any length: sorted by its heads, with the columns that there is room for. */
export function VirtualTable<Row extends object>({ columns, rows, ...props }: VirtualTableProps<Row>) {
  const [sorting, setSorting] = useState<SortingState>([]);
  const isLong = rows.length > MANY;
  const shape = useMemo(
    () =>
      columns.map(({ id, value }) => ({
        id,
        accessorFn: (row: Row) => value(row),
        sortFn: isLong ? ("basic" as const) : ("alphanumeric" as const),
      })),
    [columns, isLong],
  );
  const table = useTable({
    features,
    columns: shape,
    data: rows as Row[],
    state: { sorting },
    onSortingChange: setSorting,
  });
  // Rows that nobody sorts are taken as they are: to wrap a hundred thousand takes longer than a frame.
  const sorted = sorting.length > 0 ? table.getRowModel().rows : undefined;
  const ordered = useMemo(() => sorted?.map(({ original }) => original) ?? rows, [sorted, rows]);
  const cell = ({ id, from, number }: Column<Row>) =>
    `cell ${from ? `from-${from}` : ""} ${number ? "number" : ""} cell-${id}`;
  return (
    <div className="table" style={gridOf(columns)}>
      <VirtualRows
        {...props}
        role="grid"
        rows={ordered}
        selected={props.selected}
        onSelect={(row) => props.onSelect?.(row)}
        rowHeight={ROW_HEIGHT}
        columns={columns.length}
        head={
          <div role="row" className="row row-head" aria-rowindex={1}>
            {columns.map((column) => {
              const direction = table.getColumn(column.id)?.getIsSorted();
              return (
                <div
                  key={column.id}
                  role="columnheader"
                  className={cell(column)}
                  aria-sort={direction === "asc" ? "ascending" : direction === "desc" ? "descending" : "none"}
                >
                  <button
                    type="button"
                    className="sorter"
                    onClick={() => table.getColumn(column.id)?.toggleSorting()}
                  >
                    {column.title}
                    <span aria-hidden="true">
                      {direction === "asc" ? " ↑" : direction === "desc" ? " ↓" : ""}
                    </span>
                  </button>
                </div>
              );
            })}
          </div>
        }
        draw={(row) =>
          columns.map((column) => (
            <div key={column.id} role="gridcell" className={cell(column)}>
              {column.show ? column.show(row) : column.value(row)}
            </div>
          ))
        }
      />
    </div>
  );
}

/** Three templates, of which the width of the table chooses one (parts.css). */
function gridOf<Row>(columns: readonly Column<Row>[]): React.CSSProperties {
  const widths = (keep: (column: Column<Row>) => boolean) =>
    columns
      .filter(keep)
      .map(({ width }) => width)
      .join(" ");
  return {
    "--columns-narrow": widths(({ from }) => from === undefined),
    "--columns-medium": widths(({ from }) => from !== "wide"),
    "--columns-wide": widths(() => true),
  } as React.CSSProperties;
}
