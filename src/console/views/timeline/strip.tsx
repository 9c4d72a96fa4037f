import { type PointerEvent, useMemo, useState } from "react";
import { Button } from "react-aria-components";
import { getOutcomePaint, SHAPES } from "../../components/mark.tsx";
import { formatTimeOfDay } from "../../components/time.tsx";
import { useWidth } from "../../components/use-width.ts";
import type { Node } from "./nodes.ts";
import { BOTTOM, createStripAxis, MARK, TOP, toY } from "./strip-axis.ts";

/** Only the newest entries are drawn. */
const MAX_MARKS = 2000;
/** More lines than this would not be readable. */
const MAX_CUTS = 12;
/** Narrower selections are clicks. */
const MIN_BRUSH_PX = 6;

interface StripProps {
  nodes: readonly Node[];
  keep: (node: Node) => boolean;
  onBrush: (from: string | undefined, to: string | undefined) => void;
  isBrushed: boolean;
}

/**
 * The newest entries on a time axis of the sandbox clock; slower responses are higher. Dragging zooms the list to a
 * range.
 */
export function Strip({ nodes, keep, onBrush, isBrushed }: StripProps) {
  const last = useMemo(() => nodes.slice(-MAX_MARKS), [nodes]);
  const { places, cuts, ticks } = useMemo(() => createStripAxis(last.map(({ at }) => at)), [last]);
  const { ref, width } = useWidth<SVGSVGElement>();
  const span = places.at(-1) ?? 0;
  const toX = (at: number) => MARK + (span > 0 ? at / span : 0.5) * (width - 2 * MARK);
  const brush = useBrush((left, right) => {
    const inside = last.filter((_, index) => toX(places[index]!) >= left && toX(places[index]!) <= right);
    if (inside.length > 0) onBrush(String(inside[0]!.seq), String(inside.at(-1)!.seq));
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the places depend on the nodes and the width
  const marks = useMemo(
    () => drawMarks(last, keep, (node, index) => [toX(places[index]!), toY(node.wait ?? 0)]),
    [last, keep, width],
  );
  const hasCuts = cuts.length > 0 && cuts.length <= MAX_CUTS;
  // A rewind moves the clock back, so the newest entry may not be the latest.
  const times = last.map(({ at }) => at);
  const range = [Math.min(...times), Math.max(...times)].map((at) =>
    Number.isFinite(at) ? formatTimeOfDay(new Date(at).toISOString()).slice(0, 8) : "",
  );
  return (
    <div className="strip">
      <svg ref={ref} className="strip-plot panel" aria-hidden="true" {...brush.handlers}>
        {ticks(width - 2 * MARK).map(({ at, word }) => (
          <g key={at} className="strip-tick" transform={`translate(${toX(at)})`}>
            <path d={`M0 ${TOP}V${BOTTOM + 4}`} />
            <text x={2} y={BOTTOM + 14}>
              {word}
            </text>
          </g>
        ))}
        {hasCuts &&
          cuts.map((cut) => <path key={cut} className="strip-cut" d={`M${toX(cut)} ${TOP}V${BOTTOM}`} />)}
        {marks}
        {brush.range && <rect className="strip-brush" {...brush.range} height={BOTTOM} />}
      </svg>
      <div className="strip-words small quiet">
        <span>{last.length === 0 ? "Higher is slower" : `${range.join(" to ")}, higher is slower`}</span>
        {isBrushed && (
          <Button className="bare link-button" onPress={() => onBrush(undefined, undefined)}>
            Reset zoom
          </Button>
        )}
        {!isBrushed && nodes.length > 0 && (
          <span className="strip-hint">{hasCuts && "┆ gap · "}Drag to zoom</span>
        )}
      </div>
    </div>
  );
}

/** Draws one path per outcome; entries that the filter hides are faint. */
function drawMarks(
  nodes: readonly Node[],
  keep: (node: Node) => boolean,
  place: (node: Node, index: number) => [number, number],
) {
  const scale = MARK / 12;
  const marks = nodes.map((node, index) => {
    const [x, y] = place(node, index);
    const { outcome } = node;
    return { outcome, isKept: keep(node), path: `M${x / scale} ${y / scale}${SHAPES[outcome]}` };
  });
  return [false, true].map((kept) => (
    <g key={String(kept)} transform={`scale(${scale})`} opacity={kept ? 1 : 0.2}>
      {[...new Set(marks.map(({ outcome }) => outcome))].map((outcome) => {
        const same = marks.filter((mark) => mark.outcome === outcome && mark.isKept === kept);
        return <path key={outcome} {...getOutcomePaint(outcome)} d={same.map(({ path }) => path).join("")} />;
      })}
    </g>
  ));
}

/** Selects a horizontal range by mouse, pen or finger. */
function useBrush(onSelect: (left: number, right: number) => void) {
  const [drag, setDrag] = useState<{ start: number; end: number }>();
  const toPlace = (event: PointerEvent) => event.clientX - event.currentTarget.getBoundingClientRect().left;
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setDrag({ start: toPlace(event), end: toPlace(event) });
    },
    onPointerMove: (event: PointerEvent) => drag && setDrag({ ...drag, end: toPlace(event) }),
    onPointerUp: (event: PointerEvent) => {
      if (drag === undefined) return;
      const [left, right] = [drag.start, toPlace(event)].sort((a, b) => a - b) as [number, number];
      setDrag(undefined);
      if (right - left >= MIN_BRUSH_PX) onSelect(left, right);
    },
    onPointerCancel: () => setDrag(undefined),
  };
  const range = drag && { x: Math.min(drag.start, drag.end), width: Math.abs(drag.end - drag.start) };
  return { handlers, range };
}
