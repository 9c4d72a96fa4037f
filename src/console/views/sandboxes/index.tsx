import { useMemo } from "react";
import type { SandboxState } from "../../../../types/control-api.ts";
import { mapValues } from "../../../engine/maps.ts";
import { useNavigateToView, useParameters, useSandboxName, useSelection } from "../../address.ts";
import { createSandboxCalls } from "../../api/calls.ts";
import { useChange, useSandboxes } from "../../api/queries.ts";
import { ActionButton, ConfirmButton, DialogButton } from "../../components/button.tsx";
import { DetailPane, Facts, ListView, Section, ViewLink } from "../../components/layout.tsx";
import { Badge } from "../../components/status.tsx";
import { CopyButton, formatCount, pluralize } from "../../components/text.tsx";
import { formatAbsolute, formatClock, RelativeTime, useWallClock } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import { CreateSandbox, ForkDialog, ResetDialog } from "./sandbox-forms.tsx";
import { SettingsForm } from "./settings-form.tsx";

interface Row extends SandboxState {
  /** Number of its ancestors, all of which are listed above it. */
  depth: number;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    title: "Sandbox",
    renderCell: (row) => <SandboxTitle {...row} />,
    width: "minmax(0, 1.4fr)",
  },
  { id: "fixture", title: "Fixture", minTableWidth: "medium" },
  { id: "seed", title: "Seed", width: "5rem", isNumber: true, minTableWidth: "wide" },
  {
    id: "clock",
    title: "Clock",
    value: ({ clock }) => clock.mode,
    renderCell: ({ clock }) => formatClock(clock),
    width: "8rem",
  },
  {
    id: "scenarios",
    title: "Scenarios",
    value: ({ scenarios }) => scenarios.length,
    renderCell: ({ scenarios }) => scenarios.length || <span className="quiet">none</span>,
    width: "6rem",
    isNumber: true,
    minTableWidth: "wide",
  },
  {
    id: "records",
    title: "Records",
    value: countRecords,
    renderCell: (sandbox) => formatCount(countRecords(sandbox)),
    width: "6rem",
    isNumber: true,
    minTableWidth: "medium",
  },
  {
    id: "created_at",
    title: "Created",
    renderCell: ({ created_at }) => <Created at={created_at} />,
    width: "6.5rem",
    minTableWidth: "wide",
  },
];

function SandboxTitle({ name, depth, forked_from }: Row) {
  const isCurrent = name === useSandboxName();
  const title = isCurrent ? (
    <Badge outcome="ok">{name} (current)</Badge>
  ) : (
    <span className="unmarked">{name}</span>
  );
  if (!forked_from) return title;
  return (
    <span
      style={{ paddingLeft: `${Math.max(0, depth - 1) * INDENT_REM}rem` }}
      title={`Fork of ${forked_from}`}
    >
      <span className="quiet" role="img" aria-label={`Fork of ${forked_from}`}>
        ↳
      </span>{" "}
      {title}
    </span>
  );
}

const INDENT_REM = 1;

/** In real time. The clock of the page may be behind, which would put a new sandbox into the future. */
function Created({ at }: { at: string }) {
  return <RelativeTime at={at} now={Math.max(useWallClock(), Date.parse(at))} />;
}

function countRecords({ counts }: SandboxState): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

export default function Sandboxes() {
  const { selected, isCreating, select, create, close } = useSelection("sandbox");
  const { data, error } = useSandboxes();
  const rows = useMemo(() => data && orderByLineage(data.items), [data]);
  return (
    <ListView
      head={
        <div className="page-head">
          <h1>Sandboxes</h1>
          <ActionButton label="Create sandbox" look="primary" onPress={create} />
          <p className="quiet">
            Each sandbox has its own data, clock, keys, fault rules, webhooks and timeline. Clients select one
            by its base URL or the <code>X-Sandbox</code> header.
          </p>
        </div>
      }
      error={error}
      notFoundKind="sandbox"
      label="Sandboxes"
      columns={COLUMNS}
      rows={rows}
      getKey={({ name }) => name}
      selected={selected}
      onSelect={({ name }) => select(name)}
      pane={(sandbox) => <SandboxPane sandbox={sandbox} onClose={close} />}
      otherPane={isCreating && <CreateSandbox onClose={close} />}
    />
  );
}

/** Always exists, so it cannot be deleted. */
const DEFAULT_SANDBOX = "default";

function SandboxPane({ sandbox, onClose }: { sandbox: SandboxState; onClose: () => void }) {
  const { name, base_url, fixture, seed, clock, scenarios, settings, counts, created_at, forked_from } =
    sandbox;
  const currentSandbox = useSandboxName();
  const navigateToView = useNavigateToView();
  const { get, set } = useParameters();
  // "Back" leads to the page before the form, not to the form that was left.
  const closeForm = () => set({ settings: undefined }, { replace: true });
  const remove = useChange(
    async () => {
      // Navigate first: this page's queries would refetch a sandbox that no longer exists.
      if (name === currentSandbox) navigateToView("sandboxes", {}, DEFAULT_SANDBOX);
      await createSandboxCalls(name).remove();
      if (name !== currentSandbox) onClose();
    },
    { confirmation: `Deleted sandbox ${name}.` },
  );
  if (get("settings") === "edit")
    return (
      <DetailPane title={`Settings of ${name}`} label="Settings" onClose={closeForm}>
        <SettingsForm name={name} settings={settings} onClose={closeForm} />
      </DetailPane>
    );
  return (
    <DetailPane
      title={name}
      label={`Sandbox ${name}`}
      onClose={onClose}
      actions={
        <>
          {name !== currentSandbox && (
            <>
              <ViewLink className="button" view="timeline" sandbox={name}>
                Switch to it
              </ViewLink>
              {/* From the newest snapshot of the current sandbox to the present state of `name`. */}
              <ViewLink className="button" view="world" query={{ show: "compare", of: name, to: "now" }}>
                Compare with {currentSandbox}
              </ViewLink>
            </>
          )}
          <DialogButton label="Fork …">
            {(close) => (
              <ForkDialog
                title={`Fork ${name}`}
                fork={createSandboxCalls(name).fork}
                onForked={(created) => navigateToView("sandboxes", { sandbox: created }, created)}
                onClose={close}
              >
                Creates a sandbox with the current state of {name}, which itself does not change.
              </ForkDialog>
            )}
          </DialogButton>
          <ActionButton label="Edit settings" onPress={() => set({ settings: "edit" })} />
          <DialogButton label="Reset …">
            {(close) => <ResetDialog sandbox={sandbox} onClose={close} />}
          </DialogButton>
          {name !== DEFAULT_SANDBOX && (
            <ConfirmButton title={`Delete ${name}?`} verb="Delete" change={remove}>
              Deletes its data, timeline and snapshots permanently. Calls to its base URL will fail.
            </ConfirmButton>
          )}
        </>
      }
    >
      <Section title="Base URL" end={<CopyButton isSubtle text={base_url} />}>
        <pre className="wire">{base_url}</pre>
      </Section>
      <Section title="Setup">
        <Facts
          facts={{
            "Fork of": forked_from || undefined,
            Fixture: fixture,
            Seed: seed,
            Clock: `${formatClock(clock)}, ${formatAbsolute(clock.now)}`,
            Scenarios: scenarios.length === 0 ? "none active" : scenarios.join(", "),
            Created: `${formatAbsolute(created_at)}, in real time`,
          }}
        />
      </Section>
      <Section title={pluralize(countRecords(sandbox), "record")}>
        <ul className="counts">
          {Object.entries(counts)
            .filter(([, count]) => count > 0)
            .map(([collection, count]) => (
              <li key={collection}>
                <ViewLink view="world" query={{ collection }} sandbox={name}>
                  {collection}
                </ViewLink>
                <span className="number">{formatCount(count)}</span>
              </li>
            ))}
        </ul>
      </Section>
      <Section title="Settings">
        <Facts facts={mapValues({ ...settings }, formatSetting)} />
      </Section>
    </DetailPane>
  );
}

function formatSetting(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
}

/** Lists each fork below its origin, and forks of a deleted origin at the top level. */
function orderByLineage(sandboxes: readonly SandboxState[]): Row[] {
  const names = new Set(sandboxes.map(({ name }) => name));
  const rows = new Map<string, Row>();
  const add = (sandbox: SandboxState, depth: number): void => {
    // Origins can form a cycle: a fork of its fork can have the name of a deleted sandbox.
    if (rows.has(sandbox.name)) return;
    rows.set(sandbox.name, { ...sandbox, depth });
    for (const one of sandboxes) if (one.forked_from === sandbox.name) add(one, depth + 1);
  };
  for (const one of sandboxes) if (!names.has(one.forked_from ?? "")) add(one, 0);
  for (const one of sandboxes) add(one, 0);
  return [...rows.values()];
}
