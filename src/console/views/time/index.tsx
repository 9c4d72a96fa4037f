import { useSandboxQuery } from "../../api/queries.ts";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { ClockPanel } from "./clock-panel.tsx";
import { PendingPanel } from "./pending-panel.tsx";
import "./time.css";
import { useMemo } from "react";
import type { HistoryEntry } from "../../../../types/control-api.ts";
import { useGo } from "../../address.ts";
import { Badge } from "../../components/mark.tsx";
import { RelativeTime, useSandboxNow } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { shortTitle } from "../timeline/words.ts";

/** With a running clock, timers run without an entry in the live stream. */
const RUNNING_MS = 2000;
const MAX_RAN = 500;

/** Clock, pending timers, recent timers. */
export default function Time() {
  const clock = useSandboxQuery(["clock"], (calls) => calls.clock());
  const everyMs = clock.data && clock.data.mode !== "frozen" ? { everyMs: RUNNING_MS } : {};
  const pending = useSandboxQuery(["pending"], (calls) => calls.pending(), everyMs);
  const timers = useSandboxQuery(
    ["history", "timer"],
    (calls) => calls.history({ kind: "timer", limit: MAX_RAN }),
    everyMs,
  );
  const attempts = useSandboxQuery(
    ["history", "delivery"],
    (calls) => calls.history({ kind: "delivery", limit: MAX_RAN }),
    everyMs,
  );
  const error = clock.error ?? pending.error ?? timers.error ?? attempts.error;
  return (
    <div className="page time-page">
      <div className="page-head">
        <h1>Time</h1>
      </div>
      <LoadError error={error} />
      {clock.data && <ClockPanel clock={clock.data} nothingPending={pending.data?.length === 0} />}
      <div className="time-lists">
        {pending.data && <PendingPanel pending={pending.data} />}
        {timers.data && attempts.data && (
          <RecentTable timers={timers.data.entries} attempts={attempts.data.entries} />
        )}
      </div>
    </div>
  );
}

const makeColumns = (now: number): readonly Column<HistoryEntry>[] => [
  {
    id: "what",
    title: "Event",
    value: ({ title }) => title,
    show: ({ title, undone }) =>
      undone ? <Badge outcome="other">undone: {shortTitle(title)}</Badge> : shortTitle(title),
    width: "minmax(0, 1fr)",
  },
  {
    id: "at",
    title: "Time",
    value: ({ sequence }) => sequence,
    show: ({ at }) => <RelativeTime at={at} now={now} />,
    width: "6.5rem",
  },
];
const getKey = ({ id }: HistoryEntry) => id;

/** Timers and delivery attempts, newest first; each opens its timeline entry. */
export function RecentTable({
  timers,
  attempts,
}: {
  timers: readonly HistoryEntry[];
  attempts: readonly HistoryEntry[];
}) {
  const go = useGo();
  const now = useSandboxNow();
  const rows = useMemo(
    () => [...timers, ...attempts].sort((a, b) => b.sequence - a.sequence),
    [timers, attempts],
  );
  return (
    <section className="time-list" aria-label="Recent">
      <h2>Recent</h2>
      <VirtualTable
        label="Recent"
        columns={makeColumns(now)}
        rows={rows}
        getKey={getKey}
        onSelect={({ seq }) => go("timeline", { entry: String(seq) })}
        empty={<EmptyState title="No recent timers">Timers appear here after they run.</EmptyState>}
      />
    </section>
  );
}
