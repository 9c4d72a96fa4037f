import {
  type ComponentType,
  Fragment,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from "react";
import { Link } from "wouter";
import { NEW_RECORD, type Parameters, toAddress, useParameters, useSandboxName } from "../address.ts";
import { createStore, readStored, storeValue } from "../api/store.ts";
import { ActionButton } from "./button.tsx";
import { LoadError, NotFound } from "./status.tsx";
import { VirtualTable, type VirtualTableProps } from "./virtual-table.tsx";

const LIST = "[role=grid], [role=treegrid]";

/**
 * Details of the selected row: next to the list, or over it in narrow windows. Takes the focus if opened by a key, or if
 * it covers the list; Escape closes it and restores the focus.
 */
export function DetailPane(props: {
  title: ReactNode;
  label: string;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { title, label, onClose, actions, children } = props;
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = pane.current!;
    const container = element.parentElement!;
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      const target = event.target as Element;
      if (element.contains(target) || target.matches(LIST)) onClose();
    };
    container.addEventListener("keydown", close);
    return () => container.removeEventListener("keydown", close);
  }, [onClose]);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    const covered = pane.current!.previousElementSibling;
    const coversList = covered !== null && getComputedStyle(covered).visibility === "hidden";
    const isFocusHidden = coversList && opener !== document.body;
    if (isFocusHidden || (opener?.matches(LIST) && opener.matches(":focus-visible"))) pane.current!.focus();
    return () => {
      // Otherwise the focus would be lost.
      if (document.activeElement === document.body && opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <section ref={pane} className="detail stack appear" aria-label={label} tabIndex={-1}>
      <PaneResizer />
      <header className="detail-head">
        <h2>{title}</h2>
        <ActionButton label="✕" name="Close" look="square" onPress={onClose} />
      </header>
      {actions && <div className="actions">{actions}</div>}
      <div className="detail-body grow">{children}</div>
    </section>
  );
}

const WIDTH_KEY = "understudy-pane-width";
/** Width of panes in percent of the view. */
const WIDTHS = { min: 25, usual: 42, max: 75 };
const STEP = 3;

const paneWidth = createStore(Number(readStored("localStorage", WIDTH_KEY)) || WIDTHS.usual);

/** Sets the width of all panes, by dragging or the arrow keys, and remembers it. */
function PaneResizer() {
  const width = paneWidth.use();
  useEffect(() => {
    document.documentElement.style.setProperty("--pane-width", `${width}%`);
  }, [width]);
  const resize = (percent: number) => {
    const next = Math.round(Math.min(WIDTHS.max, Math.max(WIDTHS.min, percent)));
    storeValue("localStorage", WIDTH_KEY, String(next));
    paneWidth.set(next);
  };
  const drag = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const bounds = event.currentTarget.closest(".split")!.getBoundingClientRect();
    resize(((bounds.right - event.clientX) / bounds.width) * 100);
  };
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the pane"
      aria-valuenow={width}
      aria-valuemin={WIDTHS.min}
      aria-valuemax={WIDTHS.max}
      tabIndex={0}
      className="pane-resizer"
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => resize(WIDTHS.usual)}
      onKeyDown={({ key }) => {
        if (key === "ArrowLeft") resize(width + STEP);
        if (key === "ArrowRight") resize(width - STEP);
      }}
    />
  );
}

export function Section({ title, children, end }: { title: string; children: ReactNode; end?: ReactNode }) {
  return (
    <section className="section" aria-label={title}>
      <header className="section-head">
        <h3>{title}</h3>
        {end}
      </header>
      {children}
    </section>
  );
}

/** Values by name; undefined values are left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="facts">
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name} className="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function ViewLink(props: {
  view: string;
  query?: Parameters;
  sandbox?: string;
  className?: string;
  "aria-current"?: "page" | undefined;
  "aria-label"?: string;
  children: ReactNode;
}) {
  const currentSandbox = useSandboxName();
  const { view, query, sandbox = currentSandbox, ...link } = props;
  return <Link {...link} href={toAddress(sandbox, view, query)} />;
}

export function AddRecordLink({ collection }: { collection: string }) {
  return (
    <ViewLink className="button" view="world" query={{ collection, record: NEW_RECORD }}>
      Add one
    </ViewLink>
  );
}

/** A view of several parts, each with its own address (`show`). */
export function TabbedView(props: {
  title: string;
  label: string;
  view: string;
  tabs: readonly { id: string; title: string; Part: ComponentType }[];
}) {
  const { title, label, view, tabs } = props;
  const selectedId = useParameters().get("show");
  const selectedTab = tabs.find(({ id }) => id === selectedId) ?? tabs[0]!;
  return (
    <>
      <header className="tabbed-head">
        <h1>{title}</h1>
        <nav className="chips" aria-label={label}>
          {tabs.map(({ id, title }) => (
            <ViewLink
              key={id}
              className="tab"
              view={view}
              query={{ show: id === tabs[0]!.id ? undefined : id }}
              aria-current={id === selectedTab.id ? "page" : undefined}
            >
              {title}
            </ViewLink>
          ))}
        </nav>
      </header>
      <selectedTab.Part key={selectedTab.id} />
    </>
  );
}

interface ListViewProps<Row> extends VirtualTableProps<Row> {
  head: ReactNode;
  error: unknown;
  pane?: (row: Row) => ReactNode;
  otherPane?: ReactNode;
  /** The kind of row, such as "key", for the message that the selected one does not exist; undefined if a filter may hide it. */
  notFoundKind?: string | undefined;
}

export function ListView<Row>(props: ListViewProps<Row>) {
  const { head, error, pane, otherPane, notFoundKind, ...table } = props;
  const { rows, selected, getKey } = table;
  const row = selected === undefined ? undefined : rows?.find((one) => getKey(one) === selected);
  return (
    <div className="split grow">
      <div className="page stack grow">
        {head}
        <LoadError error={error} />
        {notFoundKind && selected && rows && !row && <NotFound kind={notFoundKind} id={selected} />}
        <VirtualTable {...table} />
      </div>
      {otherPane || (row && <Fragment key={selected}>{pane?.(row)}</Fragment>)}
    </div>
  );
}

/** The width of the element with this `ref`, in pixels; 0 at first. */
export function useWidth<E extends Element>() {
  const [element, ref] = useState<E | null>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element === null) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [element]);
  return { ref, width };
}

/** Called when an element is gone that may have had the focus. */
export function focusViewIfLost(): void {
  if (document.activeElement === document.body)
    document.getElementById("view")?.focus({ preventScroll: true });
}

/** A `ref` that scrolls the element into view when it appears, such as an answer below a long form. */
export function revealElement(element: Element | null): void {
  element?.scrollIntoView({ block: "nearest" });
}
