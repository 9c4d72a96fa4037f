import { type PointerEvent, useMemo, useState } from "react";
import { Button } from "react-aria-components";
import { useWidth } from "../../components/layout.tsx";
import { getOutcomePaint, SHAPE_SIZE, SHAPES } from "../../components/status.tsx";
import { formatTimeOfDay } from "../../components/time.tsx";
import { type Node, orderByTime } from "./nodes.ts";
import { BOTTOM, CHARACTER_PX, createStripAxis, MARK, TOP, toY } from "./strip-axis.ts";

/** Only the newest entries are drawn. */
const MAX_MARKS = 2000;
/** More lines would not be readable, so none is drawn. */
const MAX_CUT_LINES = 12;
/** Narrower selections are clicks. */
const MIN_SELECTION_PX = 6;

interface StripProps {
  /** At least one. */
  nodes: readonly Node[];
  matches: (node: Node) => boolean;
  /** Called with the least and the greatest `seq` of the range, as the address has them; undefined: show everything. */
  onZoom: (fromSeq: string | undefined, toSeq: string | undefined) => void;
  isZoomed: boolean;
}

/**
 * The newest entries on a time axis of the sandbox clock; slower responses are higher. Dragging zooms the list to a
 * range.
 */
export function Strip({ nodes, matches, onZoom, isZoomed }: StripProps) {
  const newest = useMemo(() => orderByTime(nodes.slice(-MAX_MARKS)), [nodes]);
  const { positions, cuts, makeTicks } = useMemo(() => createStripAxis(newest.map(({ at }) => at)), [newest]);
  const { ref, width } = useWidth<SVGSVGElement>();
  const span = positions.at(-1) ?? 0;
  const toX = (at: number) => MARK + (span > 0 ? at / span : 0.5) * (width - 2 * MARK);
  const selection = useRangeSelection((left, right) => {
    const selectedNodes = newest.filter(
      (_, index) => toX(positions[index]!) >= left && toX(positions[index]!) <= right,
    );
    const seqs = selectedNodes.map(({ seq }) => seq);
    if (seqs.length > 0) onZoom(String(Math.min(...seqs)), String(Math.max(...seqs)));
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the positions depend on the nodes and the width
  const marks = useMemo(
    () => drawMarks(newest, matches, (node, index) => [toX(positions[index]!), toY(node.durationMs ?? 0)]),
    [newest, matches, width],
  );
  const showsCuts = cuts.length > 0 && cuts.length <= MAX_CUT_LINES;
  // Entries after a rewind stay after those before it, although the rewind moved the clock back: times may descend.
  const times = newest.map(({ at }) => at);
  const [begin, end] = [Math.min(...times), Math.max(...times)].map((at) =>
    formatTimeOfDay(new Date(at).toISOString()).slice(0, 8),
  );
  return (
    <div className="strip">
      <svg ref={ref} className="strip-plot panel" aria-hidden="true" {...selection.handlers}>
        {makeTicks(width - 2 * MARK).map(({ position, word }) => (
          <g key={position} className="strip-tick" transform={`translate(${toX(position)})`}>
            <path d={`M0 ${TOP}V${BOTTOM + 4}`} />
            {/* A text starts 2 px right of its tick; near the edge further left, so that it ends before the edge. */}
            <text x={Math.min(2, width - toX(position) - word.length * CHARACTER_PX)} y={BOTTOM + 14}>
              {word}
            </text>
          </g>
        ))}
        {showsCuts &&
          cuts.map((cut) => <path key={cut} className="strip-cut" d={`M${toX(cut)} ${TOP}V${BOTTOM}`} />)}
        {marks}
        {selection.range && <rect className="strip-brush" {...selection.range} height={BOTTOM} />}
      </svg>
      <div className="strip-words small quiet">
        <span>{begin === end ? begin : `${begin} to ${end}`}, higher is slower</span>
        {isZoomed ? (
          <Button className="bare link-button" onPress={() => onZoom(undefined, undefined)}>
            Reset zoom
          </Button>
        ) : (
          <span className="strip-hint">{showsCuts && "┆ gap · "}Drag to zoom</span>
        )}
      </div>
    </div>
  );
}

/** Draws a faint path per outcome for entries that the filter hides, and one for those that match. */
function drawMarks(
  nodes: readonly Node[],
  matches: (node: Node) => boolean,
  toPoint: (node: Node, index: number) => [number, number],
) {
  const scale = MARK / SHAPE_SIZE;
  const marks = nodes.map((node, index) => {
    const [x, y] = toPoint(node, index);
    const { outcome } = node;
    return { outcome, isMatch: matches(node), path: `M${x / scale} ${y / scale}${SHAPES[outcome]}` };
  });
  return [false, true].map((isMatch) => (
    <g key={String(isMatch)} transform={`scale(${scale})`} opacity={isMatch ? 1 : 0.2}>
      {[...new Set(marks.map(({ outcome }) => outcome))].map((outcome) => {
        const same = marks.filter((mark) => mark.outcome === outcome && mark.isMatch === isMatch);
        return <path key={outcome} {...getOutcomePaint(outcome)} d={same.map(({ path }) => path).join("")} />;
      })}
    </g>
  ));
}

function useRangeSelection(onSelect: (left: number, right: number) => void) {
  const [drag, setDrag] = useState<{ start: number; end: number }>();
  const toX = (event: PointerEvent) => event.clientX - event.currentTarget.getBoundingClientRect().left;
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setDrag({ start: toX(event), end: toX(event) });
    },
    onPointerMove: (event: PointerEvent) => drag && setDrag({ ...drag, end: toX(event) }),
    onPointerUp: (event: PointerEvent) => {
      if (drag === undefined) return;
      const [left, right] = [drag.start, toX(event)].sort((a, b) => a - b) as [number, number];
      setDrag(undefined);
      if (right - left >= MIN_SELECTION_PX) onSelect(left, right);
    },
    onPointerCancel: () => setDrag(undefined),
  };
  const range = drag && { x: Math.min(drag.start, drag.end), width: Math.abs(drag.end - drag.start) };
  return { handlers, range };
}
