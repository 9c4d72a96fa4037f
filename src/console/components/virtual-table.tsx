import { type ReactNode, useMemo, useState } from "react";
import { Loading } from "./notice.tsx";
import { nextSort, type Sort, type SortKey, sortRows } from "./sorting.ts";
import { VirtualRows } from "./virtual-rows.tsx";

interface ColumnLook<Row> {
  title: string;
  /** The content; the sort key by default. */
  show?: (row: Row) => ReactNode;
  /** CSS grid track size, such as `8rem`; by default an equal share of the free space. */
  width?: string;
  number?: boolean;
  /** Hidden if the table is narrower than 40 (`medium`) or 64 rem (`wide`). */
  from?: "medium" | "wide" | undefined;
}

/** `value` is the sort key: the row's property `id` by default. */
export type Column<Row> = ColumnLook<Row> &
  ({ id: string; value: (row: Row) => SortKey } | { id: keyof Row & string; value?: undefined });

export interface VirtualTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while loading. */
  rows: readonly Row[] | undefined;
  getKey: (row: Row) => string;
  selected?: string | undefined;
  onSelect?: (row: Row) => void;
  empty?: ReactNode;
}

const ROW_HEIGHT = 34;
const NONE: readonly never[] = [];

/** A table of any length, sorted by its headers, with the columns that fit. */
export function VirtualTable<Row>({ columns, rows = NONE, ...props }: VirtualTableProps<Row>) {
  const [sort, setSort] = useState<Sort>();
  const sorted = columns.find(({ id }) => id === sort?.id);
  const ordered = useMemo(
    () => (sort && sorted ? sortRows(rows, (row) => readValue(sorted, row), sort.down) : rows),
    [rows, sort, sorted],
  );
  return (
    <div className="table panel grow" style={gridStyle(columns)}>
      <VirtualRows
        {...props}
        role="grid"
        rows={ordered}
        empty={rows === NONE ? <Loading /> : props.empty}
        selected={props.selected}
        onSelect={(row) => props.onSelect?.(row)}
        rowHeight={ROW_HEIGHT}
        columns={columns.length}
        head={
          <div role="row" className="row row-head" aria-rowindex={1}>
            {columns.map((column) => {
              const isSorted = column.id === sort?.id;
              return (
                <div
                  key={column.id}
                  role="columnheader"
                  className={cellClass(column)}
                  aria-sort={isSorted ? (sort.down ? "descending" : "ascending") : "none"}
                >
                  <button
                    type="button"
                    className="bare sorter"
                    onClick={() => setSort(nextSort(sort, column.id, rows[0] && readValue(column, rows[0])))}
                  >
                    {column.title}
                    <span aria-hidden="true">{isSorted && (sort.down ? " ↓" : " ↑")}</span>
                  </button>
                </div>
              );
            })}
          </div>
        }
        draw={(row) =>
          columns.map((column) => (
            <div key={column.id} role="gridcell" className={cellClass(column)}>
              {column.show ? column.show(row) : readValue(column, row)}
            </div>
          ))
        }
      />
    </div>
  );
}

function readValue<Row>({ id, value }: Column<Row>, row: Row): SortKey {
  return value ? value(row) : (row as Record<string, SortKey>)[id]!;
}

function cellClass({ id, from, number }: Pick<Column<never>, "id" | "from" | "number">): string {
  return `cell ${from ? `from-${from}` : ""} ${number ? "number" : ""} cell-${id}`;
}

/** Three templates; components.css selects one by the width of the table. */
function gridStyle<Row>(columns: readonly Column<Row>[]): React.CSSProperties {
  const widths = (keep: (column: Column<Row>) => boolean) =>
    columns
      .filter(keep)
      .map(({ width = "minmax(0, 1fr)" }) => width)
      .join(" ");
  return {
    "--columns-narrow": widths(({ from }) => from === undefined),
    "--columns-medium": widths(({ from }) => from !== "wide"),
    "--columns-wide": widths(() => true),
  } as React.CSSProperties;
}
