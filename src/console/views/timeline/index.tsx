import { useCallback, useDeferredValue, useMemo, useRef } from "react";
import { Button, Input, SearchField, ToggleButton } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandbox } from "../../api/queries.ts";
import { useLive } from "../../live/use-live.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Mark } from "../../parts/mark.tsx";
import { Nothing } from "../../parts/notice.tsx";
import { PathText } from "../../parts/path-text.tsx";
import { VirtualRows } from "../../parts/virtual-rows.tsx";
import { EntryDetail } from "./entry-detail.tsx";
import { EntryRow } from "./entry-row.tsx";
import { Exports } from "./exports.tsx";
import { filterOf, keeperOf, OUTCOMES } from "./filter.ts";
import { causalRows, type Node, nodesAfter, type Told } from "./nodes.ts";
import { type BundleOpening, OpenBundleButton, WithBundles } from "./open-bundle.tsx";
import { Strip } from "./strip.tsx";
import "./timeline.css";

const ROW_HEIGHT = 34;
const keyOf = ({ id }: Node) => id;
const levelOf = ({ level }: Node) => level;
const classOf = ({ entry }: Node) => (entry?.undone ? "entry-row undone" : "entry-row");

export default function Timeline() {
  return <WithBundles>{(opening) => <Live opening={opening} />}</WithBundles>;
}

/** What happened, in causal order; opened, an entry says why. */
function Live({ opening }: { opening: BundleOpening }) {
  // Bursts are drawn when there is time: typing and scrolling go first.
  const story = useDeferredValue(useLive((state) => state.story));
  const parameters = useParameters();
  const { set } = parameters;
  const filter = filterOf(parameters);
  const selected = parameters.get("entry");
  const told = useRef<Told>(undefined);
  const { nodes } = useMemo(() => {
    told.current = nodesAfter(told.current, story);
    return told.current;
  }, [story]);
  const signature = JSON.stringify([filter.text, [...filter.outcomes], filter.from, filter.to]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the signature says what the filter is made of
  const keep = useMemo(() => keeperOf(filter, nodes), [signature, nodes]);
  const rows = useMemo(() => causalRows(nodes, keep), [nodes, keep]);
  const brush = useCallback(
    (from: string | undefined, to: string | undefined) => set({ from, to }, { replace: true }),
    [set],
  );
  /** What waited for an answer: a caller of ours, or we for a receiver of a delivery. */
  const { waits } = story;
  const waitOf = useCallback(
    ({ request, entry }: Node) => request?.duration_ms ?? (entry ? waits.get(entry.id) : undefined),
    [waits],
  );
  const open = useCallback((row: Node) => set({ entry: row.id }), [set]);
  const close = useCallback(() => set({ entry: undefined }), [set]);
  const chosen = useMemo(
    () => (selected ? nodes.find(({ id, entry }) => id === selected || entry?.id === selected) : undefined),
    [nodes, selected],
  );
  return (
    <div className="split">
      <div className="timeline">
        <div className="page-head">
          <h1>Timeline</h1>
          <Exports />
          <OpenBundleButton {...opening} />
        </div>
        <Strip
          nodes={nodes}
          keep={keep}
          onBrush={brush}
          isBrushed={filter.from !== undefined}
          waitOf={waitOf}
        />
        <div className="filters">
          <SearchField
            className="filter-text"
            aria-label="Find in the timeline"
            value={filter.text}
            onChange={(find) => set({ find }, { replace: true })}
          >
            <Input className="input" placeholder="Find: path, code, user, id" />
          </SearchField>
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
            {story.dropped > 0 && `, ${story.dropped} older ones were let go`}
          </span>
        </div>
        <VirtualRows
          label="What happened, causes before effects"
          role="treegrid"
          rows={rows}
          keyOf={keyOf}
          levelOf={levelOf}
          classOf={classOf}
          selected={chosen?.id}
          onSelect={open}
          rowHeight={ROW_HEIGHT}
          columns={5}
          draw={(row) => <EntryRow row={row} wait={waitOf(row)} />}
          empty={
            nodes.length > 0 ? (
              <Nothing title="Nothing here fits the filter.">
                <Button
                  className="button"
                  onPress={() => set({ find: undefined, show: undefined, from: undefined, to: undefined })}
                >
                  Show everything
                </Button>
              </Nothing>
            ) : (
              story.isTold && <NothingYet />
            )
          }
        />
      </div>
      {selected && (chosen || story.isTold) && (
        <EntryDetail
          key={selected}
          id={selected}
          node={chosen}
          nodes={nodes}
          wait={chosen && waitOf(chosen)}
          onClose={close}
        />
      )}
    </div>
  );
}

function NothingYet() {
  const { data } = useSandbox();
  return (
    <Nothing title="No request has reached this sandbox yet.">
      <p>
        Point a client at its base URL, with one of the keys of the view Keys; requests show up as they come.
      </p>
      <pre>
        {"curl -s -H 'api-key: …' "}
        <span className="whole">
          <PathText>{`${data?.base_url ?? ""}/v1/models`}</PathText>
        </span>
      </pre>
      <CopyButton text={data?.base_url ?? ""} label="Copy the base URL" />
    </Nothing>
  );
}
