import { useEffect, useMemo, useRef } from "react";
import { Button } from "react-aria-components";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Outcome, SHAPES } from "../../components/mark.tsx";
import { timeOfDay } from "../../components/time.tsx";
import { useTheme } from "../../shell/theme.tsx";
import type { Node } from "./nodes.ts";
import { type StripAxis, stripAxis } from "./strip-axis.ts";

const HEIGHT = 104;
const MARK = 9;
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
  getWait: (node: Node) => number | undefined;
}

interface Shown {
  nodes: readonly Node[];
  keep: (node: Node) => boolean;
  onBrush: StripProps["onBrush"];
  getWait: StripProps["getWait"];
  axis: StripAxis;
}

/**
 * The newest entries on a time axis of the sandbox clock; slower responses are higher. Dragging zooms the list to a
 * range.
 */
export function Strip({ nodes, keep, onBrush, isBrushed, getWait }: StripProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const theme = useTheme();
  const last = useMemo(() => nodes.slice(-MAX_MARKS), [nodes]);
  const axis = useMemo(() => stripAxis(last.map(({ at }) => at)), [last]);
  const shown = useRef<Shown>({ nodes: last, keep, onBrush, getWait, axis });
  shown.current = { nodes: last, keep, onBrush, getWait, axis };

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours depend on the theme
  useEffect(() => {
    const element = place.current!;
    const made = new uPlot(plotOptions(element, shown), plotData(shown.current), element);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => made.redraw();
    dark.addEventListener("change", redraw);
    return () => {
      dark.removeEventListener("change", redraw);
      watch.disconnect();
      made.destroy();
    };
  }, [theme]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the drawing depends on these three
  useEffect(() => plot.current?.setData(plotData(shown.current)), [nodes, keep, getWait]);

  return (
    <div className="strip">
      <div ref={place} className="strip-plot panel" aria-hidden="true" />
      <div className="strip-words small quiet">
        <span>
          {last.length === 0
            ? "Higher is slower"
            : `${timeOfDay(iso(last[0]!.at)).slice(0, 8)} to ${timeOfDay(iso(last.at(-1)!.at)).slice(0, 8)}, higher is slower`}
        </span>
        {isBrushed ? (
          <Button className="bare link-button" onPress={() => onBrush(undefined, undefined)}>
            Reset zoom
          </Button>
        ) : (
          nodes.length > 0 && (
            <span className="strip-hint">
              {axis.cuts.length > 0 && axis.cuts.length <= MAX_CUTS && "┆ gap · "}Drag to zoom
            </span>
          )
        )}
      </div>
    </div>
  );
}

const iso = (ms: number) => new Date(ms).toISOString();

function plotData({ nodes, axis, getWait }: Shown): uPlot.AlignedData {
  return [[...axis.places], nodes.map((node) => Math.log10(1 + (getWait(node) ?? 0)))];
}

function plotOptions(element: HTMLElement, shown: React.RefObject<Shown>): uPlot.Options {
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    axes: [timeAxis(element, shown), { show: false }],
    padding: [MARK, MARK, 0, MARK],
    scales: {
      x: { time: false, range: (_plot, min, max) => (max > min ? [min, max] : [min - 1, max + 1]) },
      // Logarithmic: one millisecond at the bottom, ten seconds at the top.
      y: { range: () => [-0.35, 4] },
    },
    series: [{}, { paths: () => null, points: { show: false } }],
    cursor: { show: false },
    hooks: {
      draw: [
        (plot) => drawCuts(plot, element, shown.current!),
        (plot) => drawMarks(plot, element, shown.current!),
      ],
      ready: [(plot) => followBrush(plot, shown)],
    },
  };
}

const LABEL = "11px system-ui, sans-serif";

/** A line at each tick, and its time to the right of it. */
function timeAxis(element: HTMLElement, shown: React.RefObject<Shown>): uPlot.Axis {
  const ticks = (plot: uPlot) => shown.current!.axis.ticks(plot.bbox.width / devicePixelRatio);
  return {
    size: 20,
    gap: 2,
    align: 1,
    font: LABEL,
    stroke: () => readColour(element, "strip-word"),
    grid: { stroke: () => readColour(element, "strip-line"), width: 1 },
    ticks: { stroke: () => readColour(element, "strip-line"), width: 1, size: 4 },
    splits: (plot) => ticks(plot).map(({ at }) => at),
    values: (plot) => ticks(plot).map(({ word }) => word),
  };
}

function drawCuts(plot: uPlot, element: HTMLElement, { axis: { cuts } }: Shown): void {
  if (cuts.length > MAX_CUTS) return;
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = readColour(element, "strip-cut");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  for (const cut of cuts) {
    const x = Math.round(plot.valToPos(cut, "x", true)) + 0.5;
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

/** Handles dragging by mouse, pen or finger. */
function followBrush(plot: uPlot, shown: React.RefObject<Shown>): void {
  const { over, root } = plot;
  const height = over.clientHeight;
  let start: number | undefined;
  const place = (event: PointerEvent) =>
    Math.max(0, Math.min(over.clientWidth, event.clientX - over.getBoundingClientRect().left));
  const select = (left: number, width: number) =>
    plot.setSelect({ left, width, top: 0, height: width > 0 ? height : 0 }, false);
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = place(event);
    root.setPointerCapture(event.pointerId);
  });
  root.addEventListener("pointermove", (event) => {
    if (start !== undefined) select(Math.min(start, place(event)), Math.abs(place(event) - start));
  });
  root.addEventListener("pointerup", (event) => {
    if (start === undefined) return;
    const ends = [start, place(event)].sort((a, b) => a - b) as [number, number];
    start = undefined;
    select(0, 0);
    if (ends[1] - ends[0] >= MIN_BRUSH_PX) takeBrush(plot, ends, shown.current!);
  });
  root.addEventListener("pointercancel", () => {
    start = undefined;
    select(0, 0);
  });
}

function takeBrush(plot: uPlot, [left, right]: [number, number], { nodes, onBrush }: Shown): void {
  const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(right, "x")];
  const xs = plot.data[0];
  const inside = nodes.filter((_node, place) => xs[place]! >= from && xs[place]! <= to);
  if (inside.length > 0) onBrush(String(inside[0]!.seq), String(inside.at(-1)!.seq));
}

function drawMarks(plot: uPlot, element: HTMLElement, { nodes, keep }: Shown): void {
  const { ctx } = plot;
  const scale = devicePixelRatio;
  const colours = new Map<Outcome, string>();
  for (const [place, node] of nodes.entries()) {
    const x = plot.valToPos(plot.data[0][place]!, "x", true);
    const y = plot.valToPos(plot.data[1]![place]!, "y", true);
    const colour = colours.get(node.outcome) ?? readColour(element, `mark-${node.outcome}`);
    colours.set(node.outcome, colour);
    const path = new Path2D(SHAPES[node.outcome]);
    ctx.save();
    ctx.globalAlpha = keep(node) ? 1 : 0.2;
    ctx.translate(x - (MARK / 2) * scale, y - (MARK / 2) * scale);
    ctx.scale((MARK / 12) * scale, (MARK / 12) * scale);
    if (node.outcome === "other") {
      ctx.strokeStyle = colour;
      ctx.lineWidth = 1.6;
      ctx.stroke(path);
    } else {
      ctx.fillStyle = colour;
      ctx.fill(path);
    }
    ctx.restore();
  }
}

/** Reads a computed colour, since custom properties return their source text. */
function readColour(element: HTMLElement, className: string): string {
  const probe = document.createElement("i");
  probe.className = className;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
