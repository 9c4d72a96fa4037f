import { useState } from "react";
import type { ClockChange, SandboxOptions, SandboxState } from "../../../../types/control-api.ts";
import { useGo } from "../../address.ts";
import { server } from "../../api/calls.ts";
import { useServerChange } from "../../api/queries.ts";
import { type Choice, ChoiceField, Field, Form } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { FixtureField, NO_FIXTURE, ScenariosField, toFixture } from "./sandbox-fields.tsx";

const MODES: readonly Choice[] = [
  { id: "", title: "Server default" },
  { id: "frozen", title: "Frozen", detail: "until you advance it" },
  { id: "real", title: "Real time" },
  { id: "scaled", title: "Scaled", detail: "faster or slower than real time" },
];

/** Creates a sandbox; empty fields use the server's defaults. */
export function CreateSandbox({ known, onClose }: { known: readonly SandboxState[]; onClose: () => void }) {
  const [name, setName] = useState("");
  const [fixture, setFixture] = useState(NO_FIXTURE);
  const [seed, setSeed] = useState("");
  const [mode, setMode] = useState("");
  const [now, setNow] = useState("");
  const [rate, setRate] = useState("60");
  const [scenarios, setScenarios] = useState<ReadonlySet<string>>(new Set());
  const go = useGo();
  const create = useServerChange(async () =>
    server.createSandbox({
      ...(name.trim() && { name: name.trim() }),
      ...toFixture(fixture),
      ...(seed.trim() && { seed: numberOr(seed) }),
      ...(mode && { clock: toClock(mode, now, rate) }),
      ...(scenarios.size > 0 && { scenarios: [...scenarios] as SandboxOptions["scenarios"] & object }),
    }),
  );
  return (
    <DetailPane title="Create sandbox" label="Create sandbox" onClose={onClose}>
      <Form
        submit="Create"
        pending={create.isPending}
        error={create.error}
        onSubmit={() =>
          create.mutate(undefined, {
            onSuccess: ({ name }) => go("sandboxes", { sandbox: name }, name),
          })
        }
      >
        <Field
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          placeholder="ci-42"
          hint="Lowercase letters, digits and hyphens. Leave empty to generate one."
        />
        <FixtureField draft={fixture} onChange={setFixture} known={known} same="Server default" />
        <Field
          label="Seed"
          name="seed"
          value={seed}
          onChange={setSeed}
          placeholder="1"
          hint="An integer. Seeds all generated ids and text."
        />
        <ChoiceField label="Clock" name="clock.mode" value={mode} onChange={setMode} choices={MODES} />
        {(mode === "frozen" || mode === "scaled") && (
          <Field
            label="Start time"
            name="clock.now"
            value={now}
            onChange={setNow}
            placeholder="2026-03-15T12:00:00Z"
            hint="Leave empty for the current time."
          />
        )}
        {mode === "scaled" && (
          <Field
            label="Rate"
            name="clock.rate"
            value={rate}
            onChange={setRate}
            hint="Sandbox seconds per real second."
          />
        )}
        <ScenariosField chosen={scenarios} onChange={setScenarios} />
      </Form>
    </DetailPane>
  );
}

function toClock(mode: string, now: string, rate: string): ClockChange {
  return {
    mode: mode as ClockChange["mode"],
    ...(mode !== "real" && now.trim() && { now: now.trim() }),
    ...(mode === "scaled" && { rate: numberOr(rate) }),
  };
}

/** Sends invalid numbers as text, so that the server reports them. */
function numberOr(text: string): number {
  const number = Number(text);
  return (text.trim() === "" || Number.isNaN(number) ? text : number) as number;
}
