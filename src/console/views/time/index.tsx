import type { HistoryEntry } from "../../../../types/control-api.ts";
import { useGo } from "../../address.ts";
import { useSandboxQuery, useWhileRunning } from "../../api/queries.ts";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { shortTitle } from "../timeline/words.ts";
import { ClockPanel } from "./clock-panel.tsx";
import { PendingPanel } from "./pending-panel.tsx";
import "./time.css";

const MAX_RAN = 500;

const COLUMNS: readonly Column<HistoryEntry>[] = [
  {
    id: "title",
    title: "Event",
    show: ({ title, undone }) =>
      undone ? <Badge outcome="other">undone: {shortTitle(title)}</Badge> : shortTitle(title),
  },
  { id: "sequence", title: "Time", show: ({ at }) => <RelativeTime at={at} />, width: "6.5rem" },
];

export default function Time() {
  const go = useGo();
  const whileRunning = useWhileRunning();
  const clock = useSandboxQuery(["clock"], (calls) => calls.clock());
  const pending = useSandboxQuery(["pending"], (calls) => calls.pending(), whileRunning);
  // Timers and delivery attempts, newest first.
  const recent = useSandboxQuery(
    ["recent"],
    async (calls) => {
      const kinds = ["timer", "delivery"] as const;
      const pages = await Promise.all(kinds.map((kind) => calls.history({ kind, limit: MAX_RAN })));
      return pages.flatMap(({ entries }) => entries).sort((a, b) => b.sequence - a.sequence);
    },
    whileRunning,
  );
  return (
    <div className="page stack grow time-page">
      <div className="page-head">
        <h1>Time</h1>
      </div>
      <LoadError error={clock.error ?? pending.error ?? recent.error} />
      {clock.data && <ClockPanel clock={clock.data} nothingPending={pending.data?.length === 0} />}
      <div className="time-lists grow">
        {pending.data && <PendingPanel pending={pending.data} />}
        {recent.data && (
          <section className="time-list stack" aria-label="Recent">
            <h2>Recent</h2>
            <VirtualTable
              label="Recent"
              columns={COLUMNS}
              rows={recent.data}
              getKey={({ id }) => id}
              onSelect={({ seq }) => go("timeline", { entry: String(seq) })}
              empty={<EmptyState title="No recent timers">Timers appear here after they run.</EmptyState>}
            />
          </section>
        )}
      </div>
    </div>
  );
}
