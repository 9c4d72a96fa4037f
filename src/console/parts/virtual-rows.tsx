import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

export interface VirtualRowsProps<Row> {
  label: string;
  /** `treegrid` where rows say their level. */
  role: "grid" | "treegrid";
  rows: readonly Row[];
  /** A row keeps its identity while others come and go. */
  keyOf: (row: Row) => string;
  /** Its cells, each with a role of its own. */
  draw: (row: Row, at: { selected: boolean }) => ReactNode;
  levelOf?: (row: Row) => number;
  classOf?: (row: Row) => string;
  selected: string | undefined;
  /** By Enter, Space or a click; arrows alone only move. */
  onSelect: (row: Row) => void;
  rowHeight: number;
  head?: ReactNode;
  columns: number;
  /** In place of the rows where there are none. */
  empty: ReactNode;
}

/**
 * A list that draws the rows which are seen and no others, so that its length does not matter. One stop of the Tab
 * key; arrows, Page Up and Down, Home and End move within, Enter opens.
 */
export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const { rows, keyOf, selected, rowHeight, head, empty } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string>();
  const id = useId();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: head ? rowHeight : 0,
  });
  const place = active === undefined ? -1 : rows.findIndex((row) => keyOf(row) === active);
  useStaying(scroller, rows, { keyOf, rowHeight });
  useShown(rows, keyOf, selected, (at) => {
    const { scrollTop = 0, clientHeight = 0 } = scroller.current ?? {};
    const top = at * rowHeight;
    const isSeen = top + rowHeight > scrollTop && top < scrollTop + clientHeight - (head ? rowHeight : 0);
    // In the middle it stays in view when what is around the list comes later and takes room.
    virtual.scrollToIndex(at, { align: isSeen ? "auto" : "center" });
  });
  const moveTo = (at: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at));
    const row = rows[next];
    if (row === undefined) return;
    setActive(keyOf(row));
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const moves: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: Math.max(0, place - 1),
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key in moves && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      moveTo(moves[event.key]!);
    } else if (
      (event.key === "Enter" || event.key === " ") &&
      rows[place] !== undefined &&
      event.target === event.currentTarget
    ) {
      event.preventDefault();
      props.onSelect(rows[place]);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its role is one of the two, both of which take keys
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: and a name
    <div
      ref={scroller}
      className="rows"
      role={props.role}
      aria-label={props.label}
      aria-rowcount={rows.length + (head ? 1 : 0)}
      aria-colcount={props.columns}
      aria-activedescendant={place >= 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={(event) =>
        event.target === event.currentTarget && place < 0 && rows[0] && setActive(selected ?? keyOf(rows[0]))
      }
    >
      {head}
      {rows.length === 0 ? (
        <div role="row" className="rows-empty">
          <div role="gridcell">{empty}</div>
        </div>
      ) : (
        <div className="rows-inner" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index]!;
            // Not the list's own: it would measure a hundred thousand rows anew whenever their order changes.
            const key = keyOf(row);
            const isSelected = key === selected;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the list
              <div
                key={key}
                id={`${id}-${key}`}
                role="row"
                className={`row ${props.classOf?.(row) ?? ""} ${key === active ? "row-active" : ""}`}
                aria-rowindex={index + (head ? 2 : 1)}
                aria-level={props.levelOf ? props.levelOf(row) + 1 : undefined}
                aria-selected={isSelected}
                style={{ height: rowHeight, transform: `translateY(${start}px)` }}
                onClick={() => {
                  setActive(key);
                  props.onSelect(row);
                }}
              >
                {props.draw(row, { selected: isSelected })}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}

/** What somebody reads stays where it is while rows come in above it; at the top, new rows push in. */
function useStaying<Row>(
  scroller: React.RefObject<HTMLDivElement | null>,
  rows: readonly Row[],
  { keyOf, rowHeight }: { keyOf: (row: Row) => string; rowHeight: number },
): void {
  const first = useRef<string>(undefined);
  useEffect(() => {
    const element = scroller.current;
    const before = first.current;
    first.current = rows[0] === undefined ? undefined : keyOf(rows[0]);
    if (element === null || before === undefined || before === first.current || element.scrollTop < rowHeight)
      return;
    const moved = rows.findIndex((row) => keyOf(row) === before);
    if (moved > 0) element.scrollTop += moved * rowHeight;
  }, [rows, keyOf, rowHeight, scroller]);
}

/** What an address chooses is scrolled to, once it is there; where somebody scrolls afterwards is theirs. */
function useShown<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  selected: string | undefined,
  scrollTo: (at: number) => void,
): void {
  const shown = useRef<string>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: how to scroll is no reason to
  useEffect(() => {
    if (selected === shown.current) return;
    const at = selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected);
    if (at >= 0) scrollTo(at);
    if (at >= 0 || selected === undefined) shown.current = selected;
  }, [rows, keyOf, selected]);
}
