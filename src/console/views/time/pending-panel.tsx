import { type CSSProperties, useMemo } from "react";
import type { Pending } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Badge, Mark } from "../../parts/mark.tsx";
import { Nothing } from "../../parts/notice.tsx";
import { absolute, RelativeTime, relative } from "../../parts/time.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";
import { axisOf, type Heap } from "./axis.ts";
import { kindWord, SHAPES } from "./kind-words.ts";

const columnsAt = (now: number): readonly Column<Pending>[] => [
  {
    id: "due",
    title: "Due",
    value: ({ due_at }) => due_at,
    show: ({ due_at }) => <RelativeTime at={due_at} now={now} />,
    width: "4.6rem",
  },
  {
    id: "kind",
    title: "What",
    value: ({ kind }) => kind,
    show: ({ kind }) => <Badge outcome={SHAPES[kind]}>{kindWord(kind)}</Badge>,
    width: "minmax(0, 9.25rem)",
  },
  { id: "subject", title: "Of", value: ({ subject }) => subject, width: "minmax(6.5rem, 1fr)" },
  {
    id: "at",
    title: "At",
    value: ({ due_at }) => due_at,
    show: ({ due_at }) => absolute(due_at),
    width: "13rem",
    number: true,
    from: "medium",
  },
];
const keyOf = ({ kind, subject, due_at }: Pending) => `${kind} ${subject} ${due_at}`;

/** What will become due: on an axis, and as a list. */
export function PendingPanel({ pending }: { pending: readonly Pending[] }) {
  const now = useSandboxNow();
  const { ticks, heaps } = useMemo(() => axisOf(pending, now), [pending, now]);
  return (
    <section className="time-list" aria-label="Pending">
      <h2>Pending {pending.length > 0 && <span className="quiet">{pending.length}</span>}</h2>
      {pending.length > 0 && (
        <div className="axis" aria-hidden="true">
          <span className="axis-now">now</span>
          {ticks.map(({ at, word }) => (
            <span key={word} className="axis-tick" style={{ left: `${at * 100}%` }}>
              {word}
            </span>
          ))}
          {heaps.map((heap) => (
            <span
              key={keyOf(heap.items[0]!)}
              className="axis-mark"
              style={{ left: `${heap.at * 100}%` }}
              title={heapWords(heap, now)}
            >
              <Mark outcome={SHAPES[heap.items[0]!.kind]} word={null} />
            </span>
          ))}
          {heaps.map((heap, index) => (
            <span
              key={keyOf(heap.items[0]!)}
              className={`axis-name axis-name-${index % 2} clip`}
              style={placeOfName(heaps, index)}
            >
              {heapName(heap)}
            </span>
          ))}
        </div>
      )}
      <VirtualTable
        label="Pending"
        columns={columnsAt(now)}
        rows={pending}
        keyOf={keyOf}
        empty={
          <Nothing title="Nothing is pending.">
            Retries of webhooks, files in work, connector jobs, expiries and leases of rules stand here.
          </Nothing>
        }
      />
    </section>
  );
}

/** Behind this a name ends at its mark instead of beginning there. */
const LATE = 0.85;

/** Names take turns on two lines; each has the room up to the next of its line. */
function placeOfName(heaps: readonly Heap[], index: number): CSSProperties {
  const { at } = heaps[index]!;
  const percent = (part: number) => `${Math.max(0, part) * 100}%`;
  const before = heaps[index - 2]?.at ?? 0;
  if (at > LATE) return { right: percent(1 - at), maxWidth: percent((at - before) / 2) };
  const next = heaps[index + 2]?.at ?? 1;
  return { left: percent(at), maxWidth: percent(next > LATE ? (next - at) / 2 : next - at - 0.01) };
}

function heapName({ items }: Heap): string {
  const [first] = items;
  return items.length === 1 ? first!.subject : `${items.length} due`;
}

function heapWords({ items }: Heap, now: number): string {
  const words = items
    .slice(0, 12)
    .map(({ kind, subject, due_at }) => `${kindWord(kind)} ${subject}, ${relative(Date.parse(due_at), now)}`);
  return [...words, ...(items.length > 12 ? [`and ${items.length - 12} more`] : [])].join("\n");
}
