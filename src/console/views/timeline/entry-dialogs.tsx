import { useState } from "react";
import type { HistoryEntry, JournalEntry, RuleDefinition } from "../../../../types/control-api.ts";
import { useNavigateToView, useSandboxName } from "../../address.ts";
import { createSandboxCalls } from "../../api/calls.ts";
import { useCoverage, useSandboxChange } from "../../api/queries.ts";
import { ActionButton, Dialog, DialogButton } from "../../components/button.tsx";
import { type Choice, ChoiceField, Form } from "../../components/form.tsx";
import { Notice } from "../../components/status.tsx";
import { listDocumentedErrors, parsePair } from "../faults/rule-draft.ts";
import { describeRule, explainEffect } from "../faults/rules.ts";
import { ForkDialog } from "../sandboxes/sandbox-forms.tsx";
import { isRewind } from "./nodes.ts";

const GENERAL_FAILURES: readonly Choice[] = [
  { id: "status 503", title: "503 Service Unavailable" },
  { id: "delay 5s", title: "Delayed by 5 s" },
  { id: "wire reset", title: "Connection reset" },
  { id: "wire hang", title: "No response" },
];

export function FailDialog({ entry, onClose }: { entry: JournalEntry; onClose: () => void }) {
  const { data: coverage } = useCoverage({ live: false });
  const choices = [...listDocumentedErrors(coverage, entry.operation ?? ""), ...GENERAL_FAILURES];
  const [failure, setFailure] = useState("status 503");
  const rule = toFailureRule(entry, failure);
  const arm = useSandboxChange((calls) => calls.addRule(rule), {
    confirmation: ({ id }) => `Armed ${id}.`,
    undo: (calls, { id }) => calls.removeRule(id),
  });
  return (
    <Dialog title="Fail the next call" onClose={onClose}>
      <Form submit="Arm" change={arm} onSuccess={onClose} onCancel={onClose}>
        <ChoiceField label="Failure" name="effect" value={failure} onChange={setFailure} choices={choices} />
        <p role="status">
          {describeRule(rule, "next")}. {explainEffect(rule)}
        </p>
      </Form>
    </Dialog>
  );
}

function toFailureRule(
  { operation, method, path, principal }: JournalEntry,
  failure: string,
): RuleDefinition {
  return {
    match: { ...(operation ? { operation } : { method, path }), ...(principal ? { principal } : {}) },
    times: 1,
    effect: parsePair(failure),
  } as RuleDefinition;
}

interface EntryDialogProps {
  entry: HistoryEntry;
  title: string;
  onClose: () => void;
}

/** Rewinds to before an entry, or forks from there; not offered once that state is no longer stored. */
export function EntryStateActions(props: { entry: HistoryEntry; title: string }) {
  const { entry } = props;
  // The title is quoted within sentences.
  const title = props.title.replace(/\.$/, "");
  return (
    <>
      <DialogButton label={`${nameRewind(entry)} …`} isOffered={entry.kept}>
        {(close) => <RewindDialog entry={entry} title={title} onClose={close} />}
      </DialogButton>
      <DialogButton label="Fork before this …" isOffered={entry.kept}>
        {(close) => <ForkEntryDialog entry={entry} title={title} onClose={close} />}
      </DialogButton>
      {entry.stays && (
        <p className="quiet small wide">A rewind restores records; it does not undo this change.</p>
      )}
    </>
  );
}

function nameRewind(entry: HistoryEntry): string {
  if (entry.kind !== "restore") return "Rewind to before this";
  return isRewind(entry) ? "Undo rewind" : "Undo restore";
}

/** Rewinding can itself be undone: undone entries stay in the history. */
function RewindDialog({ entry, title, onClose }: EntryDialogProps) {
  const rewind = useSandboxChange((calls) => calls.rewind(entry.id, { to: "before" }), {
    confirmation: `Rewound to before “${title}”.`,
  });
  const restarted = rewind.data?.restarted_uploads ?? [];
  if (restarted.length > 0) {
    return (
      <Dialog title="Rewound" onClose={onClose}>
        <Notice outcome="refused">
          Uploads that were in progress at that time lost their data: {restarted.join(", ")}. Their clients
          must send them again from the beginning.
        </Notice>
        <ActionButton label="Close" onPress={onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog title={nameRewind(entry)} onClose={onClose}>
      <Form
        submit="Rewind"
        change={rewind}
        onCancel={onClose}
        onSuccess={(done) => done.restarted_uploads.length === 0 && onClose()}
      >
        <p>
          Restores data, credentials, clock, timers and pending deliveries to the state before “{title}”. What
          this undoes is marked as undone and stays in the list.{" "}
          {isRewind(entry) && "The entries that this rewind had undone are valid again. "}
          You can undo this step later: it becomes an entry too.
        </p>
        <p className="quiet">Settings, scenarios, rules and recorded requests do not change.</p>
      </Form>
    </Dialog>
  );
}

function ForkEntryDialog({ entry, title, onClose }: EntryDialogProps) {
  const sandbox = useSandboxName();
  const navigateToView = useNavigateToView();
  return (
    <ForkDialog
      title="Fork before this"
      fork={(options) => createSandboxCalls(sandbox).forkEntry(entry.id, { to: "before", ...options })}
      onForked={(name) => navigateToView("timeline", {}, name)}
      onClose={onClose}
    >
      Creates a sandbox with the state before “{title}”. This sandbox does not change.
    </ForkDialog>
  );
}
