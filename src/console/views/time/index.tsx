import { ToggleButton } from "react-aria-components";
import type { HistoryEntry, Pending } from "../../../../types/control-api.ts";
import { toPrintableLines } from "../../../engine/contract/text.ts";
import { useParameters } from "../../address.ts";
import { usePollingWhileRunning, useSandbox, useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { DetailPane, Facts, ViewLink } from "../../components/layout.tsx";
import { Badge, EmptyState, LoadError, Mark, NotFound, Notice, Problem } from "../../components/status.tsx";
import { formatAbsolute, formatTimeOfDay, RelativeTime } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { Changes } from "../timeline/entry-detail.tsx";
import { EntryStateActions } from "../timeline/entry-dialogs.tsx";
import { isRewind, toOutcome } from "../timeline/nodes.ts";
import { describeKind, toShortTitle } from "../timeline/words.ts";
import { ClockPanel } from "./clock-panel.tsx";
import { getTimerKey, PendingPanel } from "./pending-panel.tsx";
import { formatTimerKind, SubjectLink } from "./timers.tsx";
import "./time.css";

const MAX_RECENT = 500;
const ALL = "all";

const toEntryOutcome = (entry: HistoryEntry) => toOutcome({ request: undefined, entry, fault: undefined });

const COLUMNS: readonly Column<HistoryEntry>[] = [
  {
    id: "title",
    title: "Event",
    renderCell: (entry) => (
      <span title={entry.title}>
        <Mark outcome={toEntryOutcome(entry)} /> {entry.undone && <span className="quiet">undone </span>}
        {toShortTitle(entry.title)}
      </span>
    ),
  },
  {
    id: "at",
    title: "Time",
    renderCell: ({ at }) => formatTimeOfDay(at).slice(0, 8),
    width: "4.8rem",
    isNumber: true,
  },
  {
    id: "ago",
    title: "When",
    value: ({ sequence }) => sequence,
    renderCell: ({ at }) => <RelativeTime at={at} />,
    width: "6.5rem",
    minTableWidth: "medium",
  },
];

export default function Time() {
  const { get, set } = useParameters();
  const whileRunning = usePollingWhileRunning();
  const sandbox = useSandbox();
  const pending = useSandboxQuery(
    ["pending"],
    async (calls) => {
      // A file that was put into two stores at once has two timers, which differ in nothing that is shown.
      const timers = new Map((await calls.pending()).map((one) => [getTimerKey(one), one]));
      return [...timers.values()];
    },
    whileRunning,
  );
  const isAll = get("changes") === ALL;
  // Timers and delivery attempts, or all changes; newest first.
  const recent = useSandboxQuery(
    ["recent", isAll],
    async (calls) => {
      const kinds = isAll ? [undefined] : (["timer", "delivery"] as const);
      const pages = await Promise.all(
        kinds.map((kind) => calls.history({ ...(kind && { kind }), limit: MAX_RECENT })),
      );
      const entries = pages.flatMap((page) => page.entries).sort((a, b) => b.sequence - a.sequence);
      return entries.map((entry) => ({ ...entry, title: describeWithTarget(entry, entries) }));
    },
    whileRunning,
  );
  const dueKey = get("due");
  const ranId = get("ran");
  const close = () => set({ due: undefined, ran: undefined });
  const timer = pending.data?.find((one) => getTimerKey(one) === dueKey);
  const listed = recent.data?.find(({ id }) => id === ranId);
  // A link may lead to an entry before those of the list, or of another kind.
  const unlisted = useSandboxQuery(["history", ranId ?? ""], (calls) => calls.historyEntry(ranId ?? ""), {
    enabled: ranId !== undefined && recent.data !== undefined && listed === undefined,
  });
  const entry: HistoryEntry | undefined = listed ?? (ranId === undefined ? undefined : unlisted.data);
  return (
    <div className="split grow">
      <div className="page stack grow time-page">
        <div className="page-head">
          <h1>Time</h1>
        </div>
        <LoadError error={sandbox.error ?? pending.error ?? recent.error} />
        {ranId && !entry && unlisted.isError && <NotFound kind="entry" id={ranId} />}
        {sandbox.data && (
          <ClockPanel clock={sandbox.data.clock} hasNothingPending={pending.data?.length === 0} />
        )}
        <div className="time-lists grow">
          {pending.data && (
            <PendingPanel
              pending={pending.data}
              selected={dueKey}
              onSelect={(one) => set({ due: getTimerKey(one), ran: undefined })}
            />
          )}
          {recent.data && (
            <section className="time-list stack" aria-label="Recent">
              <div className="section-head">
                <h2>Recent</h2>
                <ToggleButton
                  className="button chip"
                  isSelected={isAll}
                  onChange={(on) => set({ changes: on ? ALL : undefined })}
                >
                  All changes
                </ToggleButton>
              </div>
              <VirtualTable
                label="Recent"
                columns={COLUMNS}
                rows={recent.data}
                getKey={({ id }) => id}
                selected={ranId}
                onSelect={({ id }) => set({ ran: id, due: undefined })}
                empty={<EmptyState title={isAll ? "No changes yet" : "No timers have run yet"} />}
              />
            </section>
          )}
        </div>
      </div>
      {timer && <TimerPane key={dueKey} timer={timer} onClose={close} />}
      {entry && <EntryPane key={ranId} entry={entry} onClose={close} />}
    </div>
  );
}

/** The title of a rewind names the entry that it went back to. */
function describeWithTarget(entry: HistoryEntry, entries: readonly HistoryEntry[]): string {
  const { title, subject } = entry;
  const target = isRewind(entry) ? entries.find(({ id }) => id === subject) : undefined;
  // A function, since a title may contain `$&`.
  return toPrintableLines(
    target ? title.replace(target.id, () => `“${target.title.replace(/\.$/, "")}”`) : title,
  );
}

function TimerPane({ timer, onClose }: { timer: Pending; onClose: () => void }) {
  const { kind, subject, due_at } = timer;
  const run = useSandboxChange((calls) => calls.runTimer({ kind, subject }), {
    confirmation: `Ran ${formatTimerKind(timer)} ${subject}.`,
  });
  const advance = useSandboxChange((calls) => calls.advance({ to: due_at }), {
    confirmation: ({ now }) => `Now ${formatAbsolute(now)}.`,
  });
  return (
    <DetailPane
      title={`${formatTimerKind(timer)} ${timer.name ?? subject}`}
      label={`Timer ${subject}`}
      onClose={onClose}
      actions={
        <>
          <ActionButton label="Run it now" look="primary" change={run} />
          <ActionButton label="Advance to it" change={advance} />
        </>
      }
    >
      <Problem error={run.error ?? advance.error} />
      <Facts
        facts={{
          Due: (
            <>
              {formatAbsolute(due_at)}, <RelativeTime at={due_at} />
            </>
          ),
          About: <SubjectLink timer={timer} />,
          Id: <code>{subject}</code>,
        }}
      />
      <p className="quiet">
        “Run it now” runs only this timer and does not move the clock. “Advance to it” moves the clock to its
        time and also runs the timers that are due before it.
      </p>
    </DetailPane>
  );
}

function EntryPane({ entry, onClose }: { entry: HistoryEntry; onClose: () => void }) {
  const { title, at, seq, kept, undone } = entry;
  return (
    <DetailPane
      title={title}
      label={`Entry ${seq}`}
      onClose={onClose}
      actions={
        <>
          <EntryStateActions entry={entry} title={title} />
          <ViewLink className="button" view="timeline" query={{ entry: String(seq) }}>
            Show in timeline
          </ViewLink>
        </>
      }
    >
      {!kept && (
        <Notice outcome="refused">
          The state before this entry is no longer stored; you cannot rewind to it.
        </Notice>
      )}
      <p className="flow">
        <Badge outcome={toEntryOutcome(entry)}>{describeKind({ request: undefined, entry })}</Badge>
        <span>{formatAbsolute(at)}</span>
        {undone && <Badge outcome="waiting">undone</Badge>}
      </p>
      <Changes entry={entry} />
    </DetailPane>
  );
}
