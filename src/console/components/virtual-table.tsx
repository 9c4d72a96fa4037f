import { type PointerEvent, type ReactNode, useMemo, useState } from "react";
import { createStore, readStored, storeValue } from "../api/store.ts";
import { Loading } from "./status.tsx";
import { VirtualRows } from "./virtual-rows.tsx";

interface ColumnLook<Row> {
  title: string;
  /** The content; the sort key by default. */
  renderCell?: (row: Row) => ReactNode;
  /** CSS grid track size, such as `8rem`; by default an equal share of the free space. */
  width?: string;
  isNumber?: boolean;
  /** Hidden if the table is narrower than 40 (`medium`) or 64 rem (`wide`). */
  minTableWidth?: "medium" | "wide" | undefined;
}

/** `value` returns the sort key; by default, it is the row's property that `id` names. */
export type Column<Row> = ColumnLook<Row> &
  ({ id: string; value: (row: Row) => SortKey } | { id: keyof Row & string; value?: undefined });

export interface VirtualTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while loading. */
  rows: readonly Row[] | undefined;
  getKey: (row: Row) => string;
  selected: string | undefined;
  onSelect: (row: Row) => void;
  empty?: ReactNode;
}

const WIDTHS_KEY = "understudy-column-widths";
const STEP = 16;
const MIN_WIDTH = 40;

/** Widths that the user has set, in pixels, by table and column. */
const columnWidths = createStore<Readonly<Record<string, number>>>(readWidths());

function readWidths(): Record<string, number> {
  try {
    return JSON.parse(readStored("localStorage", WIDTHS_KEY) ?? "{}");
  } catch {
    return {};
  }
}

/** Undefined restores the column's own width. */
function setWidth(column: string, width: number | undefined): void {
  const { [column]: _before, ...others } = columnWidths.get();
  const next = width === undefined ? others : { ...others, [column]: Math.max(MIN_WIDTH, Math.round(width)) };
  storeValue("localStorage", WIDTHS_KEY, JSON.stringify(next));
  columnWidths.set(next);
}

const NOT_LOADED: readonly never[] = [];

export function VirtualTable<Row>({ columns, rows = NOT_LOADED, ...props }: VirtualTableProps<Row>) {
  const [sort, setSort] = useState<Sort>();
  const widths = columnWidths.use();
  const toColumnKey = (id: string) => `${props.label}/${id}`;
  const sortColumn = columns.find(({ id }) => id === sort?.id);
  const sortedRows = useMemo(
    () =>
      sort && sortColumn ? sortRows(rows, (row) => readValue(sortColumn, row), sort.isDescending) : rows,
    [rows, sort, sortColumn],
  );
  return (
    <div className="table panel grow" style={toGridStyle(columns, (id) => widths[toColumnKey(id)])}>
      <VirtualRows
        {...props}
        role="grid"
        rows={sortedRows}
        empty={rows === NOT_LOADED ? <Loading /> : props.empty}
        columns={columns.length}
        head={
          <div role="row" className="row row-head" aria-rowindex={1}>
            {columns.map((column) => {
              const isSorted = column.id === sort?.id;
              return (
                <div
                  key={column.id}
                  role="columnheader"
                  className={toCellClass(column)}
                  aria-sort={isSorted ? (sort.isDescending ? "descending" : "ascending") : "none"}
                >
                  <button
                    type="button"
                    className="bare sorter"
                    title="Shift+← or Shift+→ changes the width"
                    onKeyDown={(event) => {
                      if (!event.shiftKey || !/^Arrow(Left|Right)$/.test(event.key)) return;
                      event.preventDefault();
                      event.stopPropagation();
                      const { offsetWidth } = event.currentTarget.parentElement!;
                      const step = event.key === "ArrowLeft" ? -STEP : STEP;
                      setWidth(toColumnKey(column.id), offsetWidth + step);
                    }}
                    onClick={() =>
                      setSort(toggleSort(sort, column.id, rows[0] && readValue(column, rows[0])))
                    }
                  >
                    {column.title}
                    <span aria-hidden="true">{isSorted && (sort.isDescending ? " ↓" : " ↑")}</span>
                  </button>
                  <ColumnResizer onResize={(width) => setWidth(toColumnKey(column.id), width)} />
                </div>
              );
            })}
          </div>
        }
        renderRow={(row) =>
          columns.map((column) => (
            <div key={column.id} role="gridcell" className={toCellClass(column)}>
              {column.renderCell ? column.renderCell(row) : readValue(column, row)}
            </div>
          ))
        }
      />
    </div>
  );
}

function ColumnResizer({ onResize }: { onResize: (width: number | undefined) => void }) {
  const drag = ({ currentTarget, pointerId, clientX }: PointerEvent) => {
    if (currentTarget.hasPointerCapture(pointerId))
      onResize(clientX - currentTarget.parentElement!.getBoundingClientRect().left);
  };
  return (
    <div
      className="column-resizer"
      aria-hidden="true"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => onResize(undefined)}
    />
  );
}

function readValue<Row>({ id, value }: Column<Row>, row: Row): SortKey {
  return value ? value(row) : (row as Record<string, SortKey>)[id]!;
}

function toCellClass({ id, minTableWidth, isNumber }: Column<never>): string {
  return `cell ${minTableWidth ? `from-${minTableWidth}` : ""} ${isNumber ? "number" : ""} cell-${id}`;
}

/** Three templates; components.css selects one by the width of the table. */
function toGridStyle<Row>(
  columns: readonly Column<Row>[],
  getWidth: (id: string) => number | undefined,
): React.CSSProperties {
  const toTemplate = (keep: (column: Column<Row>) => boolean) =>
    columns
      .filter(keep)
      .map(({ id, width = "minmax(0, 1fr)" }) => {
        const userWidth = getWidth(id);
        return userWidth === undefined ? width : `minmax(0, ${userWidth}px)`;
      })
      .join(" ");
  return {
    "--columns-narrow": toTemplate(({ minTableWidth }) => minTableWidth === undefined),
    "--columns-medium": toTemplate(({ minTableWidth }) => minTableWidth !== "wide"),
    "--columns-wide": toTemplate(() => true),
  } as React.CSSProperties;
}

export type SortKey = string | number;

interface Sort {
  id: string;
  isDescending: boolean;
}

/** Above this count, texts are compared by code unit: numeric collation (9 before 10) would take a second. */
const MAX_COLLATED = 10_000;

const collator = new Intl.Collator("en", { numeric: true });

/** Rows in the order of their keys; rows of equal keys keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  getKey: (row: Row) => SortKey,
  isDescending: boolean,
): readonly Row[] {
  const compareTexts = rows.length > MAX_COLLATED ? compareCodeUnits : collator.compare;
  const direction = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, key: getKey(row) }))
    .sort((a, b) => direction * compareKeys(a.key, b.key, compareTexts))
    .map(({ row }) => row);
}

/** Texts come before numbers. A column's `value` returns an empty text where a record has none. */
function compareKeys(a: SortKey, b: SortKey, compareTexts: (a: string, b: string) => number): number {
  if (typeof a === "string") return typeof b === "string" ? compareTexts(a, b) : -1;
  return typeof b === "string" ? 1 : a - b;
}

function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The sort after a click on a header: numbers start descending; the third click removes the sort. */
export function toggleSort(sort: Sort | undefined, id: string, first: SortKey | undefined): Sort | undefined {
  const startsDescending = typeof first === "number";
  if (sort?.id !== id) return { id, isDescending: startsDescending };
  return sort.isDescending === startsDescending ? { id, isDescending: !startsDescending } : undefined;
}
