import { useMemo } from "react";
import { useGo } from "../../address.ts";
import type { HistoryEntry } from "../../api/types.ts";
import { Badge } from "../../parts/mark.tsx";
import { Nothing } from "../../parts/notice.tsx";
import { absolute } from "../../parts/time.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";

const COLUMNS: readonly Column<HistoryEntry>[] = [
  {
    id: "what",
    title: "What",
    value: ({ title }) => title,
    show: ({ title, undone }) => (undone ? <Badge outcome="other">undone: {title}</Badge> : title),
    width: "minmax(0, 1fr)",
  },
  {
    id: "at",
    title: "At",
    value: ({ sequence }) => sequence,
    show: ({ at }) => absolute(at),
    width: "13rem",
    number: true,
    from: "medium",
  },
];
const keyOf = ({ id }: HistoryEntry) => id;

/** Timers and attempts to deliver, newest first; one leads to its entry in the timeline. */
export function RanTable({
  timers,
  attempts,
}: {
  timers: readonly HistoryEntry[];
  attempts: readonly HistoryEntry[];
}) {
  const go = useGo();
  const rows = useMemo(
    () => [...timers, ...attempts].sort((a, b) => b.sequence - a.sequence),
    [timers, attempts],
  );
  return (
    <section className="time-list" aria-label="What ran">
      <h2>What ran</h2>
      <VirtualTable
        label="What ran"
        columns={COLUMNS}
        rows={rows}
        keyOf={keyOf}
        onSelect={({ id }) => go("timeline", { entry: id })}
        empty={<Nothing title="Nothing has run yet.">What becomes due stands here once it has run.</Nothing>}
      />
    </section>
  );
}
