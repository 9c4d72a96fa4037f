import type { Covered } from "./outcomes-pane.tsx";

/** How full a cell is, by how often an outcome was seen. */
const STEPS = [1, 2, 10];

/** The outcomes of one status: how often they were seen, and how many of them were where it is not all. */
export function HeatCell({ outcomes }: { outcomes: Covered["outcomes"] }) {
  if (outcomes.length === 0) return null;
  const seen = outcomes.filter(({ hits }) => hits > 0).length;
  const hits = outcomes.reduce((sum, one) => sum + one.hits, 0);
  const step = seen === 0 ? 0 : STEPS.filter((least) => hits >= least).length;
  const text = seen === 0 ? "·" : seen < outcomes.length ? `${seen}/${outcomes.length}` : short(hits);
  return (
    <span
      className={`heat heat-${step}`}
      title={outcomes.map(({ code, hits }) => `${code ?? "success"}: ${hits}`).join(", ")}
    >
      {text}
    </span>
  );
}

function short(hits: number): string {
  return hits < 1000 ? String(hits) : `${Math.floor(hits / 1000)}k`;
}
