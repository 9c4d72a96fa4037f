import { useParameters } from "../../address.ts";
import type { RequestLine } from "../../api/types.ts";
import { useLive } from "../../live/use-live.tsx";
import { Badge, type Outcome } from "../../parts/mark.tsx";
import { Nothing } from "../../parts/notice.tsx";
import { timeOfDay } from "../../parts/time.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";

const COLUMNS: readonly Column<RequestLine>[] = [
  {
    id: "answer",
    title: "Answer",
    value: ({ status }) => status,
    show: (line) => <Badge outcome={outcomeOf(line)}>{line.status || "none"}</Badge>,
    width: "5rem",
  },
  {
    id: "request",
    title: "Request",
    value: ({ method, path }) => `${method} ${path}`,
    width: "minmax(0, 1fr)",
  },
  { id: "code", title: "Code", value: ({ code }) => code ?? "", width: "14rem", from: "wide" },
  {
    id: "caller",
    title: "As",
    value: ({ principal }) => principal ?? "nobody",
    width: "8rem",
    from: "medium",
  },
  {
    id: "at",
    title: "Time",
    value: ({ sequence }) => sequence,
    show: ({ at }) => timeOfDay(at),
    width: "7rem",
    number: true,
  },
];

function outcomeOf({ status, decision }: RequestLine): Outcome {
  if (decision.startsWith("fault:")) return "fault";
  if (status === 0 || status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}

const keyOf = ({ id }: RequestLine) => id;

export default function Timeline() {
  const { requests } = useLive((state) => state.story);
  const parameters = useParameters();
  return (
    <div className="page">
      <div className="page-head">
        <h1>Timeline</h1>
      </div>
      <VirtualTable
        label="Requests"
        columns={COLUMNS}
        rows={requests}
        keyOf={keyOf}
        selected={parameters.get("entry")}
        onSelect={({ id }) => parameters.set({ entry: id })}
        empty={<Nothing title="No request has reached this sandbox yet." />}
      />
    </div>
  );
}
