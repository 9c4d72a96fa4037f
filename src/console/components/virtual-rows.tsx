import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";

const ROW_HEIGHT = 34;

interface VirtualRowsProps<Row> {
  label: string;
  /** `treegrid` if rows have levels. */
  role: "grid" | "treegrid";
  rows: readonly Row[];
  /** Stable and unique. */
  getKey: (row: Row) => string;
  /** Returns the cells, each with its own role. */
  renderRow: (row: Row) => ReactNode;
  getLevel?: (row: Row) => number;
  getClassName?: (row: Row) => string;
  /** Whether the rows below a row are shown; undefined if it has none. */
  isExpanded?: (row: Row) => boolean | undefined;
  /** Called when an arrow key, or a click on its sign, folds or unfolds a row. */
  onToggle?: (row: Row) => void;
  selected: string | undefined;
  /** Called on Enter, Space or a click; arrow keys only move. */
  onSelect: (row: Row) => void;
  head?: ReactNode;
  columns: number;
  empty: ReactNode;
}

/**
 * A list that renders only its visible rows. One tab stop; arrow keys, Page Up, Page Down, Home and End move the active
 * row, Enter opens it.
 */
export function VirtualRows<Row>(props: VirtualRowsProps<Row>) {
  const { rows, getKey, selected, head, empty } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string>();
  const id = useId();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    // The head takes this much of the visible height.
    scrollPaddingEnd: head ? ROW_HEIGHT : 0,
  });
  const activeIndex = active === undefined ? -1 : rows.findIndex((row) => getKey(row) === active);
  useStableScroll(scroller, rows, getKey);
  useScrollToSelected(rows, getKey, selected, (at) => virtual.scrollToIndex(at));
  useVisibleSelection(scroller);
  const moveTo = (at: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at));
    const row = rows[next];
    if (row === undefined) return;
    setActive(getKey(row));
    virtual.scrollToIndex(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2);
    const moves: Record<string, number> = {
      ArrowDown: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key in moves) {
      event.preventDefault();
      moveTo(moves[event.key]!);
      return;
    }
    const row = rows[activeIndex];
    if (row === undefined) return;
    const isExpanded = props.isExpanded?.(row);
    if (isExpanded !== undefined && event.key === (isExpanded ? "ArrowLeft" : "ArrowRight")) {
      props.onToggle?.(row);
    } else if ((event.key === "Enter" || event.key === " ") && event.target === event.currentTarget) {
      event.preventDefault();
      props.onSelect(row);
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the role is grid or treegrid, which handle keys
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles support a name
    <div
      ref={scroller}
      className="rows grow"
      role={props.role}
      aria-label={props.label}
      aria-rowcount={rows.length + (head ? 1 : 0)}
      aria-colcount={props.columns}
      aria-activedescendant={activeIndex >= 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={(event) =>
        event.target === event.currentTarget &&
        activeIndex < 0 &&
        rows[0] &&
        setActive(selected ?? getKey(rows[0]))
      }
    >
      {head}
      {rows.length === 0 ? (
        <div role="row">
          <div role="gridcell">{empty}</div>
        </div>
      ) : (
        <div className="rows-inner" role="rowgroup" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index]!;
            // Not the virtualizer's key: it would measure all rows again whenever their order changes.
            const key = getKey(row);
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles keys
              <div
                key={key}
                id={`${id}-${key}`}
                role="row"
                className={`row ${props.getClassName?.(row) ?? ""} ${key === active ? "row-active" : ""}`}
                aria-rowindex={index + (head ? 2 : 1)}
                aria-level={props.getLevel ? props.getLevel(row) + 1 : undefined}
                aria-expanded={props.isExpanded?.(row)}
                aria-selected={key === selected}
                style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
                onClick={(event) => {
                  // A link of the row opens in a new tab or window; a drag selects text.
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  if (getSelection()?.isCollapsed === false) return;
                  // A link that the pointer focused would keep the keys from the list.
                  if (document.activeElement?.matches("[role=row] a"))
                    scroller.current?.focus({ preventScroll: true });
                  setActive(key);
                  if (event.target instanceof Element && event.target.closest(".fold")) props.onToggle?.(row);
                  else props.onSelect(row);
                }}
              >
                {props.isExpanded?.(row) !== undefined && (
                  <span className="fold" aria-hidden="true">
                    {props.isExpanded(row) ? "▾" : "▸"}
                  </span>
                )}
                {props.renderRow(row)}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}

/**
 * Keeps a row where it is while rows are added above it: the row under the pointer, else the first visible one. At the
 * top, without a pointer, new rows push the others down.
 */
function useStableScroll<Row>(
  scroller: React.RefObject<HTMLDivElement | null>,
  rows: readonly Row[],
  getKey: (row: Row) => string,
): void {
  const lastRows = useRef(rows);
  const pointerY = useRef<number>(undefined);
  useEffect(() => {
    const element = scroller.current!;
    const track = (event: PointerEvent) => {
      pointerY.current = event.type === "pointerleave" ? undefined : event.clientY;
    };
    element.addEventListener("pointermove", track);
    element.addEventListener("pointerleave", track);
    return () => {
      element.removeEventListener("pointermove", track);
      element.removeEventListener("pointerleave", track);
    };
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    const before = lastRows.current;
    const pointer = pointerY.current;
    lastRows.current = rows;
    if (element === null || before === rows || before.length === 0) return;
    if (pointer === undefined && element.scrollTop < ROW_HEIGHT) return;
    const inner = element.querySelector(".rows-inner");
    const anchorY =
      pointer === undefined || !inner ? element.scrollTop : pointer - inner.getBoundingClientRect().top;
    const oldIndex = Math.floor(anchorY / ROW_HEIGHT);
    const anchor = before[oldIndex];
    const newIndex = anchor === undefined ? -1 : rows.findIndex((row) => getKey(row) === getKey(anchor));
    if (newIndex >= 0 && newIndex !== oldIndex) element.scrollTop += (newIndex - oldIndex) * ROW_HEIGHT;
  }, [rows, getKey, scroller]);
}

/** Keeps a visible selected row visible while content that appears below the list shrinks it. */
function useVisibleSelection(scroller: React.RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const element = scroller.current!;
    let height = element.clientHeight;
    const observer = new ResizeObserver(() => {
      const { top } = element.getBoundingClientRect();
      const row = element.querySelector("[aria-selected=true]")?.getBoundingClientRect();
      const hiddenHeight = row ? row.bottom - top - element.clientHeight : 0;
      if (hiddenHeight > 0 && row!.top < top + height) element.scrollTop += hiddenHeight;
      height = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
}

/** Scrolls to the selected row once, when it appears. */
function useScrollToSelected<Row>(
  rows: readonly Row[],
  getKey: (row: Row) => string,
  selected: string | undefined,
  scrollTo: (at: number) => void,
): void {
  const scrolledTo = useRef<string>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrollTo changes with every render
  useEffect(() => {
    if (selected === scrolledTo.current) return;
    const at = selected === undefined ? -1 : rows.findIndex((row) => getKey(row) === selected);
    if (at >= 0) scrollTo(at);
    if (at >= 0 || selected === undefined) scrolledTo.current = selected;
  }, [rows, getKey, selected]);
}
