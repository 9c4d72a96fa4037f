import { useDeferredValue, useMemo, useRef, useState } from "react";
import { ToggleButton } from "react-aria-components";
import { useParameters, useSandboxName } from "../../address.ts";
import { isOwnRequest } from "../../api/fetch-service.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { parseFilter } from "../../components/filter-language.ts";
import { EmptyState } from "../../components/status.tsx";
import { formatCount, formatShown, pluralize } from "../../components/text.tsx";
import { VirtualRows } from "../../components/virtual-rows.tsx";
import { EMPTY_TIMELINE, type TimelineData } from "../../live/timeline-data.ts";
import { useLive } from "../../live/use-live.tsx";
import { EntryDetail } from "./entry-detail.tsx";
import { EntryRow } from "./entry-row.tsx";
import { type BodyMatches, createFilter } from "./filter.ts";
import { FilterBar, useFilter, useIsOrderedByTime } from "./filter-bar.tsx";
import { FirstCall } from "./first-call.tsx";
import { Exports, FileDropZone, type OpenFile, OpenFileButton } from "./import-export.tsx";
import { EMPTY_CACHE, findNode, listCausalRows, type Node, orderByTime, updateNodes } from "./nodes.ts";
import { PinnedEntries } from "./pinned.tsx";
import { Strip } from "./strip.tsx";
import "./timeline.css";

const getKey = ({ seq }: Node) => String(seq);
const getClassName = ({ entry, outcome }: Node) =>
  `entry-row ${outcome === "rewind" ? "rewind" : ""} ${entry?.undone ? "undone" : ""}`;

export default function Timeline() {
  return <FileDropZone>{(open) => <LiveTimeline openFile={open} />}</FileDropZone>;
}

/** New entries wait while the list is paused. */
function usePause(live: TimelineData) {
  const [frozen, setFrozen] = useState<TimelineData>();
  const last = frozen?.run === live.run ? frozen : EMPTY_TIMELINE;
  const lastSeq = Math.max(last.requests.at(-1)?.seq ?? 0, last.history.at(-1)?.seq ?? 0);
  const fresh = frozen ? [...live.requests, ...live.history].filter(({ seq }) => seq > lastSeq) : [];
  return {
    timeline: frozen ?? live,
    isPaused: frozen !== undefined,
    waitingCount: new Set(fresh.map(({ seq }) => seq)).size,
    toggle: () => setFrozen(frozen ? undefined : live),
  };
}

/** The entries whose bodies contain the text of each `body:` term. */
function useBodySearch(text: string): BodyMatches | undefined {
  const bodyTexts = parseFilter(text)
    .filter(({ field }) => field === "body")
    .map(({ value }) => value);
  const { data } = useSandboxQuery(
    ["bodies", bodyTexts],
    (calls) =>
      Promise.all(bodyTexts.map(async (one) => [one, (await calls.searchBodies(one)).seqs] as const)),
    { enabled: bodyTexts.length > 0 },
  );
  return useMemo(() => data && new Map(data.map(([one, seqs]) => [one, new Set(seqs)])), [data]);
}

/** Hides the effects of folded entries; `rows` are in causal order. */
function foldRows(rows: readonly Node[], folded: ReadonlySet<number>): readonly Node[] {
  if (folded.size === 0) return rows;
  let foldedLevel = Number.POSITIVE_INFINITY;
  return rows.filter(({ seq, level }) => {
    if (level > foldedLevel) return false;
    foldedLevel = folded.has(seq) ? level : Number.POSITIVE_INFINITY;
    return true;
  });
}

function LiveTimeline({ openFile }: { openFile: OpenFile }) {
  // Typing and scrolling take precedence over bursts of entries.
  const pause = usePause(useDeferredValue(useLive((state) => state.timeline)));
  const { timeline } = pause;
  const { get, set } = useParameters();
  const sandbox = useSandboxName();
  const filter = useFilter();
  const entryId = get("entry");
  const isOrderedByTime = useIsOrderedByTime();
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const cache = useRef(EMPTY_CACHE);
  const nodes = useMemo(() => {
    cache.current = updateNodes(cache.current, timeline);
    return cache.current.nodes;
  }, [timeline]);
  const bodyMatches = useBodySearch(filter.text);
  const matches = useMemo(() => createFilter(filter, bodyMatches), [filter, bodyMatches]);
  const causalRows = useMemo(() => listCausalRows(nodes, matches), [nodes, matches]);
  const rows = useMemo(
    () => (isOrderedByTime ? orderByTime(nodes).filter(matches).reverse() : foldRows(causalRows, folded)),
    [isOrderedByTime, nodes, matches, causalRows, folded],
  );
  const parents = useMemo(
    () =>
      new Set(
        isOrderedByTime ? [] : causalRows.filter((node, at) => (causalRows[at + 1]?.level ?? 0) > node.level),
      ),
    [isOrderedByTime, causalRows],
  );
  const getLevel = ({ level }: Node) => (isOrderedByTime ? 0 : level);
  const isExpanded = (row: Node) => (parents.has(row) ? !folded.has(row.seq) : undefined);
  const toggleFold = ({ seq }: Node) =>
    setFolded(new Set(folded.has(seq) ? [...folded].filter((one) => one !== seq) : [...folded, seq]));
  // After a restart of the server the journal is empty, so any request in the history counts.
  const hasNoClientCalls =
    timeline.isLoaded &&
    !nodes.some(({ request, entry }) =>
      request ? !isOwnRequest(sandbox, request.id) : entry?.kind === "request",
    );
  const selectedNode = useMemo(() => (entryId ? findNode(nodes, entryId) : undefined), [nodes, entryId]);
  return (
    <div className="split grow">
      <div className="timeline stack grow">
        <div className="page-head">
          <h1>Timeline</h1>
          <Exports />
          <OpenFileButton open={openFile} />
        </div>
        {hasNoClientCalls && <FirstCall />}
        {nodes.length > 0 && (
          <Strip
            nodes={nodes}
            matches={matches}
            onZoom={(from, to) => set({ from, to }, { replace: true })}
            isZoomed={filter.from !== undefined}
          />
        )}
        <FilterBar nodes={nodes} filter={filter} bodyMatches={bodyMatches}>
          <ToggleButton className="button chip" isSelected={pause.isPaused} onChange={pause.toggle}>
            {pause.isPaused ? "Paused" : "Pause"}
          </ToggleButton>
          {pause.waitingCount > 0 && (
            <ActionButton
              label={`Show ${formatCount(pause.waitingCount)} new`}
              look="primary"
              onPress={pause.toggle}
            />
          )}
          <span className="quiet small count" role="status">
            {formatShown(rows.length, nodes.length, "entry", "entries")}
            {timeline.droppedCount > 0 &&
              `, ${pluralize(timeline.droppedCount, "older entry", "older entries")} dropped`}
          </span>
        </FilterBar>
        <PinnedEntries nodes={nodes} />
        <VirtualRows
          label="Timeline"
          role="treegrid"
          rows={rows}
          getKey={getKey}
          getLevel={getLevel}
          getClassName={getClassName}
          isExpanded={isExpanded}
          onToggle={toggleFold}
          selected={selectedNode && getKey(selectedNode)}
          onSelect={({ seq }) => set({ entry: String(seq) })}
          columns={5}
          renderRow={(row) => <EntryRow row={row} level={getLevel(row)} />}
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
      {entryId && (selectedNode || timeline.isLoaded) && (
        <EntryDetail
          key={selectedNode?.seq ?? entryId}
          address={entryId}
          node={selectedNode}
          nodes={nodes}
          onClose={() => set({ entry: undefined })}
        />
      )}
    </div>
  );
}
