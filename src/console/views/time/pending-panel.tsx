import { type CSSProperties, useMemo } from "react";
import type { Pending } from "../../../../types/control-api.ts";
import { useWidth } from "../../components/layout.tsx";
import { Badge, EmptyState, Mark } from "../../components/status.tsx";
import { formatAbsolute, formatRelative, RelativeTime, useSandboxNow } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { buildAxis, type Cluster } from "./axis.ts";
import { formatTimerKind, SubjectLink } from "./timers.tsx";

const COLUMNS: readonly Column<Pending>[] = [
  { id: "due_at", title: "Due", renderCell: ({ due_at }) => <RelativeTime at={due_at} />, width: "4.6rem" },
  {
    id: "kind",
    title: "Timer",
    renderCell: (timer) => <Badge outcome="waiting">{formatTimerKind(timer)}</Badge>,
    width: "minmax(0, 9.25rem)",
  },
  {
    id: "subject",
    title: "About",
    value: ({ name, subject }) => name ?? subject,
    renderCell: (timer) => <SubjectLink timer={timer} />,
    width: "minmax(6.5rem, 1fr)",
  },
  {
    id: "at",
    title: "Time",
    value: ({ due_at }) => due_at,
    renderCell: ({ due_at }) => formatAbsolute(due_at),
    width: "13rem",
    isNumber: true,
    minTableWidth: "medium",
  },
];
/** Identifies a timer, also in the address. */
export const getTimerKey = ({ kind, subject, due_at }: Pending) => `${kind} ${subject} ${due_at}`;

export function PendingPanel(props: {
  pending: readonly Pending[];
  selected: string | undefined;
  onSelect: (timer: Pending) => void;
}) {
  const { pending, selected, onSelect } = props;
  const now = useSandboxNow();
  const { ref, width } = useWidth<HTMLDivElement>();
  const { ticks, clusters } = useMemo(() => buildAxis(pending, now, width), [pending, now, width]);
  return (
    <section className="time-list stack" aria-label="Pending">
      <div className="section-head">
        <h2>Pending {pending.length > 0 && <span className="quiet">{pending.length}</span>}</h2>
      </div>
      {pending.length > 0 && (
        <div ref={ref} className="axis" role="group" aria-label="Pending on a time axis">
          {[{ position: 0, word: "now" }, ...ticks].map(({ position, word }) => (
            <span
              key={word}
              aria-hidden="true"
              className="axis-tick small quiet"
              style={{ left: `${position * 100}%` }}
            >
              {word}
            </span>
          ))}
          {clusters.map((cluster) => (
            <button
              key={getTimerKey(cluster.items[0]!)}
              type="button"
              className="bare axis-mark"
              style={{ left: `${cluster.position * 100}%` }}
              title={describeCluster(cluster, now)}
              aria-label={describeCluster(cluster, now)}
              onClick={() => onSelect(cluster.items[0]!)}
            >
              <Mark outcome="waiting" word={null} />
            </button>
          ))}
          {clusters.map((cluster, index) => (
            <span
              key={getTimerKey(cluster.items[0]!)}
              aria-hidden="true"
              className={`axis-name axis-name-${index % 2} small clip`}
              style={toLabelStyle(clusters, index)}
            >
              {formatClusterName(cluster)}
            </span>
          ))}
        </div>
      )}
      <VirtualTable
        label="Pending"
        columns={COLUMNS}
        rows={pending}
        getKey={getTimerKey}
        selected={selected}
        onSelect={onSelect}
        empty={
          <EmptyState title="No pending timers">
            Webhook retries, file and connector jobs, and expiries of tokens, uploads and rules appear here.
          </EmptyState>
        }
      />
    </section>
  );
}

/** After this position, labels end at their mark instead of starting there. */
const RIGHT_ALIGNED_FROM = 0.85;

/**
 * Labels alternate between two lines. Each may extend to the next label of its line, or half of the way if they extend
 * towards each other.
 */
function toLabelStyle(clusters: readonly Cluster[], index: number): CSSProperties {
  const { position } = clusters[index]!;
  const toPercent = (part: number) => `${Math.max(0, part) * 100}%`;
  const before = clusters[index - 2]?.position ?? 0;
  if (position > RIGHT_ALIGNED_FROM)
    return { right: toPercent(1 - position), maxWidth: toPercent((position - before) / 2) };
  const next = clusters[index + 2]?.position ?? 1;
  return {
    left: toPercent(position),
    maxWidth: toPercent(next > RIGHT_ALIGNED_FROM ? (next - position) / 2 : next - position - 0.01),
  };
}

function formatClusterName({ items }: Cluster): string {
  const [first] = items;
  return items.length === 1 ? (first!.name ?? first!.subject) : `${items.length} timers`;
}

function describeCluster({ items }: Cluster, now: number): string {
  const words = items.slice(0, 12).map((timer) => {
    const { name, subject, due_at } = timer;
    return `${formatTimerKind(timer)} ${name ?? subject}, ${formatRelative(Date.parse(due_at), now)}`;
  });
  return [...words, ...(items.length > 12 ? [`and ${items.length - 12} more`] : [])].join("\n");
}
