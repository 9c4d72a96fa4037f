import { useState } from "react";
import { useGo } from "../../address.ts";
import { server } from "../../api/calls.ts";
import { useServerChange } from "../../api/queries.ts";
import type { ClockChange, SandboxOptions, SandboxState } from "../../api/types.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { type Choice, ChoiceField, Field, Form } from "../../parts/form.tsx";
import { FixtureField, fixtureOf, NO_FIXTURE } from "./fixture-field.tsx";
import { ScenariosField } from "./scenarios-field.tsx";

const MODES: readonly Choice[] = [
  { id: "", title: "As the server was started" },
  { id: "frozen", title: "Frozen", detail: "stands still until it is advanced" },
  { id: "real", title: "Real time" },
  { id: "scaled", title: "At a rate", detail: "such as 60 times as fast" },
];

/** A second world beside the others; what is left empty is as the server was started with. */
export function NewSandbox({ known, onClose }: { known: readonly SandboxState[]; onClose: () => void }) {
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
      ...fixtureOf(fixture),
      ...(seed.trim() && { seed: numberOr(seed) }),
      ...(mode && { clock: clockOf(mode, now, rate) }),
      ...(scenarios.size > 0 && { scenarios: [...scenarios] as SandboxOptions["scenarios"] & object }),
    }),
  );
  return (
    <DetailPane title="Make a sandbox" label="Make a sandbox" onClose={onClose}>
      <Form
        submit="Make the sandbox"
        pending={create.isPending}
        error={create.error}
        onSubmit={() =>
          create.mutate(undefined, {
            onSuccess: (made) => go("sandboxes", { sandbox: made.name }, made.name),
          })
        }
      >
        <Field
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          placeholder="ci-42"
          hint="Lower-case letters, digits and hyphens. Left empty, one is made up."
        />
        <FixtureField draft={fixture} onChange={setFixture} known={known} same="As the server was started" />
        <Field
          label="Seed"
          name="seed"
          value={seed}
          onChange={setSeed}
          placeholder="1"
          hint="A whole number: ids, texts and all that is random follow from it."
        />
        <ChoiceField label="Clock" name="clock.mode" value={mode} onChange={setMode} choices={MODES} />
        {(mode === "frozen" || mode === "scaled") && (
          <Field
            label="It begins at"
            name="clock.now"
            value={now}
            onChange={setNow}
            placeholder="2026-03-15T12:00:00Z"
            hint="Left empty, at the wall clock’s now."
          />
        )}
        {mode === "scaled" && (
          <Field
            label="Rate"
            name="clock.rate"
            value={rate}
            onChange={setRate}
            hint="Seconds of the sandbox per second."
          />
        )}
        <ScenariosField chosen={scenarios} onChange={setScenarios} />
      </Form>
    </DetailPane>
  );
}

function clockOf(mode: string, now: string, rate: string): ClockChange {
  return {
    mode: mode as ClockChange["mode"],
    ...(mode !== "real" && now.trim() && { now: now.trim() }),
    ...(mode === "scaled" && { rate: numberOr(rate) }),
  };
}

/** What is no number goes out as it is: the server says what is wrong with it. */
function numberOr(text: string): number {
  const number = Number(text);
  return (text.trim() === "" || Number.isNaN(number) ? text : number) as number;
}
