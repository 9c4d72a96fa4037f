import { type ReactNode, useState } from "react";
import { Loading } from "./notice.tsx";
import { nextSort, type Sort, type SortKey, useSorted } from "./sorting.ts";
import { VirtualRows } from "./virtual-rows.tsx";

export interface Column<Row> {
  id: string;
  title: string;
  /** The sort key. */
  value: (row: Row) => SortKey;
  /** The content; the value by default. */
  show?: (row: Row) => ReactNode;
  /** CSS grid track size, such as `8rem` or `minmax(8rem, 1fr)`. */
  width: string;
  number?: boolean;
  /** Hidden if the table is narrower than 40 (`medium`) or 64 rem (`wide`). */
  from?: "medium" | "wide";
}

interface VirtualTableProps<Row> {
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
  const ordered = useSorted(rows, sort, columns.find(({ id }) => id === sort?.id)?.value);
  const cell = ({ id, from, number }: Column<Row>) =>
    `cell ${from ? `from-${from}` : ""} ${number ? "number" : ""} cell-${id}`;
  return (
    <div className="table" style={gridStyle(columns)}>
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
              const direction = sort?.id !== column.id ? undefined : sort.down ? "descending" : "ascending";
              return (
                <div
                  key={column.id}
                  role="columnheader"
                  className={cell(column)}
                  aria-sort={direction ?? "none"}
                >
                  <button
                    type="button"
                    className="sorter"
                    onClick={() => setSort(nextSort(sort, column.id, rows[0] && column.value(rows[0])))}
                  >
                    {column.title}
                    <span aria-hidden="true">{direction === "ascending" ? " ↑" : direction ? " ↓" : ""}</span>
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

/** Three templates; components.css selects one by the width of the table. */
function gridStyle<Row>(columns: readonly Column<Row>[]): React.CSSProperties {
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
