import { useState } from "react";
import { Button } from "react-aria-components";
import type {
  CoverageMatrix,
  HistoryEntry,
  JournalEntry,
  RuleDefinition,
} from "../../../../types/control-api.ts";
import { useGo } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Dialog } from "../../components/dialog.tsx";
import { type Choice, ChoiceField, Field, Form } from "../../components/form.tsx";
import { Notice } from "../../components/notice.tsx";
import { pluralize } from "../../components/text.tsx";

/** Failures that every operation can have. */
const ANYWHERE: readonly Choice[] = [
  { id: "status 503", title: "503 Service Unavailable" },
  { id: "delay 5s", title: "Delayed by 5 s" },
  { id: "wire reset", title: "Connection reset" },
  { id: "wire hang", title: "No response" },
];

/** Arms a rule for the next similar call. */
export function FailDialog({ entry, onClose }: { entry: JournalEntry; onClose: () => void }) {
  const { data: coverage } = useSandboxQuery(["coverage"], (calls) => calls.coverage(), { live: false });
  const choices = [...documentedFailures(coverage, entry.operation), ...ANYWHERE];
  const [chosen, setChosen] = useState("status 503");
  const arm = useSandboxChange((calls) => calls.addRule(toRule(entry, chosen)));
  const target = entry.operation ?? `${entry.method} ${entry.path}`;
  return (
    <Dialog title="Fail the next call" isOpen onClose={onClose}>
      <Form
        submit="Arm"
        pending={arm.isPending}
        error={arm.error}
        onCancel={onClose}
        onSubmit={() => arm.mutate(undefined, { onSuccess: onClose })}
      >
        <p>
          The next call of <code>{target}</code>
          {entry.principal && (
            <>
              {" "}
              by <code>{entry.principal}</code>
            </>
          )}{" "}
          fails once, and changes nothing.
        </p>
        <ChoiceField label="Failure" name="effect" value={chosen} onChange={setChosen} choices={choices} />
      </Form>
    </Dialog>
  );
}

function documentedFailures(coverage: CoverageMatrix | undefined, operation: string | null): Choice[] {
  const row = coverage?.operations.find((row) => row.operation === operation);
  return (row?.outcomes ?? []).flatMap(({ status, code }) =>
    code ? [{ id: `error ${code}`, title: `${status} ${code}`, detail: "documented" }] : [],
  );
}

function toRule({ operation, method, path, principal }: JournalEntry, chosen: string): RuleDefinition {
  const [kind, value] = chosen.split(" ") as [string, string];
  const effects: Record<string, RuleDefinition["effect"]> = {
    status: { status: Number(value) },
    delay: { delay: value as never },
    wire: { wire: value as never },
    error: { error: value as never },
  };
  return {
    match: { ...(operation ? { operation } : { method, path }), ...(principal ? { principal } : {}) },
    times: 1,
    effect: effects[kind],
  } as RuleDefinition;
}

interface EntryDialogProps {
  entry: HistoryEntry;
  title: string;
  onClose: () => void;
}

/** Rewinding can itself be undone: undone entries stay in the history. */
export function RewindDialog({ entry, title, onClose }: EntryDialogProps) {
  const rewind = useSandboxChange((calls) => calls.rewind(entry.id, { to: "before" }));
  const restarted = rewind.data?.restarted_uploads ?? [];
  if (restarted.length > 0) {
    return (
      <Dialog title="Rewound" isOpen onClose={onClose}>
        <Notice outcome="refused">
          {pluralize(restarted.length, "upload")} in progress at that time lost their data:{" "}
          {restarted.join(", ")}. Restart them from the beginning.
        </Notice>
        <Button className="button" onPress={onClose}>
          Close
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title="Rewind to before this" isOpen onClose={onClose}>
      <Form
        submit="Rewind"
        pending={rewind.isPending}
        error={rewind.error}
        onCancel={onClose}
        onSubmit={() =>
          rewind.mutate(undefined, { onSuccess: (done) => done.restarted_uploads.length === 0 && onClose() })
        }
      >
        <p>
          Restores data, credentials, clock, timers and pending deliveries to the state before “{title}”. This
          entry and all later ones are marked as undone. They stay in the list, and you can rewind to them.
        </p>
        <p className="quiet">Settings, scenarios, rules and the journal do not change.</p>
      </Form>
    </Dialog>
  );
}

/** Creates a sandbox in the state before an entry. */
export function BranchDialog({ entry, title, onClose }: EntryDialogProps) {
  const [name, setName] = useState("");
  const go = useGo();
  const branch = useSandboxChange((calls) =>
    calls.forkEntry(entry.id, { to: "before", ...(name === "" ? {} : { name }) }),
  );
  return (
    <Dialog title="Branch from here" isOpen onClose={onClose}>
      <Form
        submit="Branch"
        pending={branch.isPending}
        error={branch.error}
        onCancel={onClose}
        onSubmit={() => branch.mutate(undefined, { onSuccess: ({ name }) => go("timeline", {}, name) })}
      >
        <p>Creates a sandbox in the state before “{title}”. This sandbox does not change.</p>
        <Field
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          autoFocus
          hint="Lowercase letters, digits and hyphens. Leave empty to generate one."
        />
      </Form>
    </Dialog>
  );
}
