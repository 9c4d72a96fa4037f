import { useCallback, useDeferredValue, useMemo, useRef } from "react";
import { ToggleButton } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { isOwnRequest } from "../../api/fetch-service.ts";
import { ActionButton } from "../../components/button.tsx";
import { FilterField } from "../../components/form.tsx";
import { Mark } from "../../components/mark.tsx";
import { EmptyState } from "../../components/notice.tsx";
import { VirtualRows } from "../../components/virtual-rows.tsx";
import { useLive } from "../../live/use-live.tsx";
import { EntryDetail } from "./entry-detail.tsx";
import { EntryRow } from "./entry-row.tsx";
import { makeFilter, OUTCOMES, readFilter } from "./filter.ts";
import { FirstCall } from "./first-call.tsx";
import { BundleDropZone, Exports, OpenBundleButton, type OpenFile } from "./import-export.tsx";
import { causalRows, EMPTY_CACHE, findNode, type Node, updateNodes } from "./nodes.ts";
import { Strip } from "./strip.tsx";
import "./timeline.css";

const ROW_HEIGHT = 34;
const getKey = ({ seq }: Node) => String(seq);
const getLevel = ({ level }: Node) => level;
const getClassName = ({ entry, outcome }: Node) =>
  `entry-row ${outcome === "rewind" ? "rewind" : ""} ${entry?.undone ? "undone" : ""}`;

export default function Timeline() {
  return <BundleDropZone>{(open) => <Live openBundle={open} />}</BundleDropZone>;
}

function Live({ openBundle }: { openBundle: OpenFile }) {
  // Typing and scrolling take precedence over bursts of entries.
  const timeline = useDeferredValue(useLive((state) => state.timeline));
  const parameters = useParameters();
  const { set } = parameters;
  const filter = readFilter(parameters);
  const selected = parameters.get("entry");
  const cache = useRef(EMPTY_CACHE);
  const nodes = useMemo(() => {
    cache.current = updateNodes(cache.current, timeline);
    return cache.current.nodes;
  }, [timeline]);
  const signature = JSON.stringify([filter.text, [...filter.outcomes], filter.from, filter.to]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the signature identifies the filter
  const keep = useMemo(() => makeFilter(filter), [signature]);
  const rows = useMemo(() => causalRows(nodes, keep), [nodes, keep]);
  const brush = useCallback(
    (from: string | undefined, to: string | undefined) => set({ from, to }, { replace: true }),
    [set],
  );

  // Until a client of the user has called.
  const isNew = timeline.isLoaded && !nodes.some(({ request }) => request && !isOwnRequest(request.id));
  const open = useCallback((row: Node) => set({ entry: String(row.seq) }), [set]);
  const close = useCallback(() => set({ entry: undefined }), [set]);
  const chosen = useMemo(() => (selected ? findNode(nodes, selected) : undefined), [nodes, selected]);
  return (
    <div className="split grow">
      <div className="timeline stack grow">
        <div className="page-head">
          <h1>Timeline</h1>
          <Exports />
          <OpenBundleButton open={openBundle} />
        </div>
        {isNew && <FirstCall />}
        <Strip nodes={nodes} keep={keep} onBrush={brush} isBrushed={filter.from !== undefined} />
        <div className="chips filters">
          <FilterField
            label="Filter the timeline"
            placeholder="Filter entries"
            value={filter.text}
            onChange={(find) => set({ find }, { replace: true })}
          />
          {OUTCOMES.map(([outcome, word]) => (
            <ToggleButton
              key={outcome}
              className="button chip"
              isSelected={filter.outcomes.has(outcome)}
              onChange={(on) => {
                const outcomes = new Set(filter.outcomes);
                if (on) outcomes.add(outcome);
                else outcomes.delete(outcome);
                set({ show: [...outcomes].join(" ") }, { replace: true });
              }}
            >
              <Mark outcome={outcome} word={null} />
              {word}
            </ToggleButton>
          ))}
          <span className="quiet small count" role="status">
            {rows.length === nodes.length ? `${nodes.length}` : `${rows.length} of ${nodes.length}`}
            {timeline.dropped > 0 && `, ${timeline.dropped.toLocaleString("en-GB")} older entries dropped`}
          </span>
        </div>
        <VirtualRows
          label="Timeline"
          role="treegrid"
          rows={rows}
          getKey={getKey}
          getLevel={getLevel}
          getClassName={getClassName}
          selected={chosen && getKey(chosen)}
          onSelect={open}
          rowHeight={ROW_HEIGHT}
          columns={5}
          draw={(row) => <EntryRow row={row} />}
          empty={
            nodes.length > 0 ? (
              <EmptyState title="No matching entries">
                <ActionButton
                  label="Clear filters"
                  onPress={() => set({ find: undefined, show: undefined, from: undefined, to: undefined })}
                />
              </EmptyState>
            ) : (
              timeline.isLoaded && (
                <EmptyState title="No requests yet">Requests appear here immediately.</EmptyState>
              )
            )
          }
        />
      </div>
      {selected && (chosen || timeline.isLoaded) && (
        <EntryDetail
          key={chosen?.seq ?? selected}
          address={selected}
          node={chosen}
          nodes={nodes}
          onClose={close}
        />
      )}
    </div>
  );
}
