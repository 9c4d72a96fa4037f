import { useState } from "react";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { CoverageMatrix, JournalEntry, RuleDefinition } from "../../api/types.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { type Choice, ChoiceField, Form } from "../../parts/form.tsx";

/** Failures that any operation can meet on its way. */
const ANYWHERE: readonly Choice[] = [
  { id: "status 503", title: "503 Service Unavailable" },
  { id: "delay 5s", title: "Answered, but 5 s late" },
  { id: "wire reset", title: "Connection reset" },
  { id: "wire hang", title: "No answer at all" },
];

/** Arms a rule for the next call like this one. */
export function FailDialog({ entry, onClose }: { entry: JournalEntry; onClose: () => void }) {
  const { data: coverage } = useSandboxQuery(["coverage"], (calls) => calls.coverage(), { live: false });
  const choices = [...documentedFailures(coverage, entry.operation), ...ANYWHERE];
  const [chosen, setChosen] = useState("status 503");
  const arm = useSandboxChange((calls) => calls.addRule(ruleOf(entry, chosen)));
  const what = entry.operation ?? `${entry.method} ${entry.path}`;
  return (
    <Dialog title="Make it fail next time" isOpen onClose={onClose}>
      <Form
        submit="Arm"
        pending={arm.isPending}
        error={arm.error}
        onCancel={onClose}
        onSubmit={() => arm.mutate(undefined, { onSuccess: onClose })}
      >
        <p>
          The next call of <code>{what}</code>
          {entry.principal && (
            <>
              {" "}
              by <code>{entry.principal}</code>
            </>
          )}{" "}
          fails so, once. Nothing is changed by it.
        </p>
        <ChoiceField label="How" name="effect" value={chosen} onChange={setChosen} choices={choices} />
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

function ruleOf({ operation, method, path, principal }: JournalEntry, chosen: string): RuleDefinition {
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
