import { useState } from "react";
import type { SandboxState } from "../../../../types/control-api.ts";
import { useGo } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { useSandboxes, useServerChange } from "../../api/queries.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { FixtureField, NO_FIXTURE, toFixture } from "./sandbox-fields.tsx";

interface DialogProps {
  sandbox: SandboxState;
  onClose: () => void;
}

/** Resets a sandbox to its fixture or to another one. */
export function ResetDialog({ sandbox: { name, seed: before, fixture: named }, onClose }: DialogProps) {
  const [fixture, setFixture] = useState(NO_FIXTURE);
  const [seed, setSeed] = useState("");
  const { data: known } = useSandboxes();
  const reset = useServerChange(async () =>
    sandboxCalls(name).reset({
      ...toFixture(fixture),
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
          Resets data, credentials, rate limits, pending retries, rules, active scenarios, journal and
          history. This cannot be undone. Settings and snapshots stay; take a snapshot first to keep the
          current state.
        </p>
        <FixtureField
          draft={fixture}
          onChange={setFixture}
          known={known?.items ?? []}
          same={`Unchanged: ${named}`}
        />
        <Field
          label="Seed"
          name="seed"
          value={seed}
          onChange={setSeed}
          placeholder={`${before} (unchanged)`}
        />
      </Form>
    </Dialog>
  );
}

/** Creates a sandbox in the current state of this one. */
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
            onSuccess: (created) => go("sandboxes", { sandbox: created.name }, created.name),
          })
        }
      >
        <p>Creates a sandbox in the current state of {sandbox.name}, which does not change.</p>
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
