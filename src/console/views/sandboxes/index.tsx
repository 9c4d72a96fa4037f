import { useCallback, useMemo } from "react";
import { Button } from "react-aria-components";
import type { SandboxState } from "../../../../types/control-api.ts";
import { useParameters, useSandboxName } from "../../address.ts";
import { useSandboxes } from "../../api/queries.ts";
import { Badge, Unmarked } from "../../components/mark.tsx";
import { LoadError, NotFound } from "../../components/notice.tsx";
import { formatClock, RelativeTime, useWallClock } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { CreateSandbox } from "./create-sandbox.tsx";
import { countRecords, SandboxPane } from "./sandbox-pane.tsx";

const makeColumns = (here: string, wall: number): readonly Column<SandboxState>[] => [
  {
    id: "name",
    title: "Sandbox",
    value: ({ name }) => name,
    show: ({ name }) =>
      name === here ? <Badge outcome="ok">{name} (current)</Badge> : <Unmarked>{name}</Unmarked>,
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
    show: ({ clock }) => formatClock(clock),
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
    value: countRecords,
    show: (sandbox) => countRecords(sandbox).toLocaleString("en-GB"),
    width: "6rem",
    number: true,
    from: "medium",
  },
  {
    id: "created",
    title: "Created",
    value: ({ created_at }) => created_at,
    // `wall` is rounded down, which would put a new sandbox into the future.
    show: ({ created_at }) => <RelativeTime at={created_at} now={Math.max(wall, Date.parse(created_at))} />,
    width: "6.5rem",
    from: "wide",
  },
];
const getKey = ({ name }: SandboxState) => name;

export default function Sandboxes() {
  const { get, set } = useParameters();
  const here = useSandboxName();
  const wall = Math.floor(useWallClock() / 10_000) * 10_000;
  const { data, error } = useSandboxes();
  const columns = useMemo(() => makeColumns(here, wall), [here, wall]);
  const creating = get("make") !== undefined;
  const name = get("sandbox");
  const chosen = data?.items.find((sandbox) => sandbox.name === name);
  const close = useCallback(() => set({ sandbox: undefined, make: undefined }), [set]);
  return (
    <div className="split">
      <div className="page">
        <div className="page-head">
          <h1>Sandboxes</h1>
          <Button className="button primary" onPress={() => set({ make: "sandbox", sandbox: undefined })}>
            Create sandbox
          </Button>
          <p className="quiet">
            Each sandbox has its own data, clock, keys, fault rules, webhooks and journal. Clients select one
            by its base URL or the <code>X-Sandbox</code> header.
          </p>
        </div>
        <LoadError error={error} />
        {name !== undefined && data && !chosen && <NotFound kind="sandbox" id={name} />}
        <VirtualTable
          label="Sandboxes"
          columns={columns}
          rows={data?.items}
          getKey={getKey}
          selected={chosen?.name}
          onSelect={(sandbox) => set({ sandbox: sandbox.name, make: undefined })}
        />
      </div>
      {creating && <CreateSandbox known={data?.items ?? []} onClose={close} />}
      {!creating && chosen && <SandboxPane key={chosen.name} sandbox={chosen} onClose={close} />}
    </div>
  );
}
