import { useState } from "react";
import { useGo } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { useSandboxes, useServerChange } from "../../api/queries.ts";
import type { SandboxState } from "../../api/types.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { FixtureField, fixtureOf, NO_FIXTURE } from "./fixture-field.tsx";

interface DialogProps {
  sandbox: SandboxState;
  onClose: () => void;
}

/** The first day again, of the same fixture or of another. */
export function ResetDialog({ sandbox: { name, seed: before, fixture: named }, onClose }: DialogProps) {
  const [fixture, setFixture] = useState(NO_FIXTURE);
  const [seed, setSeed] = useState("");
  const { data: known } = useSandboxes();
  const reset = useServerChange(async () =>
    sandboxCalls(name).reset({
      ...fixtureOf(fixture),
      ...(seed.trim() && { seed: (Number.isNaN(Number(seed)) ? seed : Number(seed)) as number }),
    }),
  );
  return (
    <Dialog title={`Reset ${name}?`} isOpen onClose={onClose}>
      <Form
        submit="Reset"
        dangerous
        pending={reset.isPending}
        error={reset.error}
        onCancel={onClose}
        onSubmit={() => reset.mutate(undefined, { onSuccess: onClose })}
      >
        <p>
          Data, credentials, windows, pending retries, rules, scenarios in force, journal and history begin
          anew, and that cannot be taken back. Settings and snapshots stay: a snapshot taken now keeps what
          there is.
        </p>
        <FixtureField
          draft={fixture}
          onChange={setFixture}
          known={known?.items ?? []}
          same={`As it was: ${named}`}
        />
        <Field
          label="Seed"
          name="seed"
          value={seed}
          onChange={setSeed}
          placeholder={`${before}, as it was`}
        />
      </Form>
    </Dialog>
  );
}

/** A second sandbox goes on from where this one is. */
export function ForkDialog({ sandbox, onClose }: DialogProps) {
  const [name, setName] = useState("");
  const go = useGo();
  const fork = useServerChange(async () =>
    sandboxCalls(sandbox.name).fork(name.trim() === "" ? {} : { name: name.trim() }),
  );
  return (
    <Dialog title={`Fork ${sandbox.name}`} isOpen onClose={onClose}>
      <Form
        submit="Fork"
        pending={fork.isPending}
        error={fork.error}
        onCancel={onClose}
        onSubmit={() =>
          fork.mutate(undefined, {
            onSuccess: (made) => go("sandboxes", { sandbox: made.name }, made.name),
          })
        }
      >
        <p>A second sandbox begins as this one is now. This one goes on as it is.</p>
        <Field
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          autoFocus
          hint="Lower-case letters, digits and hyphens. Left empty, one is made up."
        />
      </Form>
    </Dialog>
  );
}
