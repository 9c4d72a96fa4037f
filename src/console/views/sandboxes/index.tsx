import { useCallback, useMemo } from "react";
import { Button } from "react-aria-components";
import { useParameters, useSandboxName } from "../../address.ts";
import { useSandboxes } from "../../api/queries.ts";
import type { SandboxState } from "../../api/types.ts";
import { Badge, Unmarked } from "../../parts/mark.tsx";
import { Notice, ReadProblem } from "../../parts/notice.tsx";
import { clockWords, RelativeTime, useWallClock } from "../../parts/time.tsx";
import { type Column, VirtualTable } from "../../parts/virtual-table.tsx";
import { NewSandbox } from "./new-sandbox.tsx";
import { SandboxPane } from "./sandbox-pane.tsx";
import { recordsIn } from "./words.ts";
import "./sandboxes.css";

const columnsAt = (here: string, wall: number): readonly Column<SandboxState>[] => [
  {
    id: "name",
    title: "Sandbox",
    value: ({ name }) => name,
    show: ({ name }) =>
      name === here ? <Badge outcome="ok">{name}, here</Badge> : <Unmarked>{name}</Unmarked>,
    width: "minmax(0, 1.4fr)",
  },
  {
    id: "fixture",
    title: "Fixture",
    value: ({ fixture }) => fixture,
    width: "minmax(0, 1fr)",
    from: "medium",
  },
  { id: "seed", title: "Seed", value: ({ seed }) => seed, width: "5rem", number: true, from: "wide" },
  {
    id: "clock",
    title: "Clock",
    value: ({ clock }) => clock.mode,
    show: ({ clock }) => clockWords(clock),
    width: "8rem",
  },
  {
    id: "scenarios",
    title: "Scenarios",
    value: ({ scenarios }) => scenarios.length,
    show: ({ scenarios }) => scenarios.length || <span className="quiet">none</span>,
    width: "6rem",
    number: true,
    from: "wide",
  },
  {
    id: "records",
    title: "Records",
    value: recordsIn,
    show: (sandbox) => recordsIn(sandbox).toLocaleString("en-GB"),
    width: "6rem",
    number: true,
    from: "medium",
  },
  {
    id: "created",
    title: "Made",
    value: ({ created_at }) => created_at,
    // Nothing was made in the future, whatever is rounded.
    show: ({ created_at }) => <RelativeTime at={created_at} now={Math.max(wall, Date.parse(created_at))} />,
    width: "6.5rem",
    from: "wide",
  },
];
const keyOf = ({ name }: SandboxState) => name;

/** Every world of this server. */
export default function Sandboxes() {
  const { get, set } = useParameters();
  const here = useSandboxName();
  const wall = Math.floor(useWallClock() / 10_000) * 10_000;
  const { data, error } = useSandboxes();
  const columns = useMemo(() => columnsAt(here, wall), [here, wall]);
  const making = get("make") !== undefined;
  const name = get("sandbox");
  const chosen = data?.items.find((sandbox) => sandbox.name === name);
  const close = useCallback(() => set({ sandbox: undefined, make: undefined }), [set]);
  return (
    <div className="split">
      <div className="page">
        <div className="page-head">
          <h1>Sandboxes</h1>
          <Button className="button primary" onPress={() => set({ make: "sandbox", sandbox: undefined })}>
            Make a sandbox
          </Button>
          <p className="quiet">
            Each is a world of its own: data, clock, credentials, rules, webhooks, journal. A client chooses
            one by its base URL, or by the header <code>X-Sandbox</code>.
          </p>
        </div>
        <ReadProblem error={error} />
        {name !== undefined && data && !chosen && (
          <Notice outcome="refused">There is no sandbox {name}; it may have been deleted.</Notice>
        )}
        <VirtualTable
          label="Sandboxes"
          columns={columns}
          rows={data?.items ?? NONE}
          keyOf={keyOf}
          selected={chosen?.name}
          onSelect={(sandbox) => set({ sandbox: sandbox.name, make: undefined })}
          empty={<p className="loading quiet">Loading …</p>}
        />
      </div>
      {making && <NewSandbox known={data?.items ?? NONE} onClose={close} />}
      {!making && chosen && <SandboxPane key={chosen.name} sandbox={chosen} onClose={close} />}
    </div>
  );
}

const NONE: readonly never[] = [];
