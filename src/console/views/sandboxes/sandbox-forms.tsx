import { type ComponentProps, type ReactNode, useMemo, useState } from "react";
import { useLocation, useSearch } from "wouter";
import type { ClockChange, FaultRule, SandboxOptions, SandboxState } from "../../../../types/control-api.ts";
import { useNavigateToView, useSandboxName } from "../../address.ts";
import { createSandboxCalls, type SandboxCalls, server } from "../../api/calls.ts";
import { omitEmptyInputs, requireJson, toNumberOrText } from "../../api/form-fields.ts";
import { useChange, useSandboxes, useSandboxQuery } from "../../api/queries.ts";
import { Dialog } from "../../components/button.tsx";
import { type Choice, ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { MultiSelect } from "../../components/typed-field.tsx";
import { toDefinition } from "../faults/rules.ts";

const NAME_HINT = "Lowercase letters, digits and hyphens. Leave empty to generate one.";
const MODES: readonly Choice[] = [
  { id: "", title: "Server default" },
  { id: "frozen", title: "Frozen", detail: "until you advance it" },
  { id: "real", title: "Real time" },
  { id: "scaled", title: "Running", detail: "faster or slower than real time" },
];

export function CreateSandbox({ onClose }: { onClose: () => void }) {
  const { inputs, field } = useInputs({
    ...FIXTURE_INPUTS,
    name: "",
    seed: "",
    "clock.mode": "",
    "clock.now": "",
    "clock.rate": "60",
  });
  const { name, seed, "clock.mode": mode } = inputs;
  const [scenarios, setScenarios] = useState<ReadonlySet<string>>(new Set());
  const navigateToView = useNavigateToView();
  const currentSandbox = useSandboxName();
  const create = useChange(
    async () =>
      server.createSandbox({
        ...omitEmptyInputs({ name }),
        ...toFixture(inputs),
        ...(seed.trim() && { seed: toNumberOrText(seed) }),
        ...(mode && { clock: toClock(mode, inputs["clock.now"], inputs["clock.rate"]) }),
        ...(scenarios.size > 0 && { scenarios: [...scenarios] as SandboxOptions["scenarios"] & object }),
      }),
    {
      confirmation: ({ name }) => `Created sandbox ${name}.`,
      undo: async ({ name }) => {
        navigateToView("sandboxes", {}, currentSandbox);
        await createSandboxCalls(name).remove();
      },
    },
  );
  return (
    <DetailPane title="Create sandbox" label="Create sandbox" onClose={onClose}>
      <Form
        submit="Create"
        change={create}
        onSuccess={({ name }) => navigateToView("sandboxes", { sandbox: name }, name)}
      >
        <Field label="Name" {...field("name")} placeholder="ci-42" hint={NAME_HINT} />
        <FixtureField choice={inputs.fixture} field={field} defaultTitle="Server default" />
        <Field
          label="Seed"
          {...field("seed")}
          placeholder="1"
          hint="An integer. Seeds all generated ids and text."
        />
        <ChoiceField label="Clock" {...field("clock.mode")} choices={MODES} />
        {(mode === "frozen" || mode === "scaled") && (
          <Field
            label="Start time"
            {...field("clock.now")}
            placeholder="2026-03-15T12:00:00Z"
            hint="Leave empty for the current time."
          />
        )}
        {mode === "scaled" && (
          <Field label="Rate" {...field("clock.rate")} hint="Sandbox seconds per real second." />
        )}
        <ScenariosField chosen={scenarios} onChange={setScenarios} />
      </Form>
    </DetailPane>
  );
}

function toClock(mode: string, now: string, rate: string): ClockChange {
  return {
    mode: mode as ClockChange["mode"],
    ...(mode !== "real" && omitEmptyInputs({ now })),
    ...(mode === "scaled" && { rate: toNumberOrText(rate) }),
  };
}

function ScenariosField(props: Pick<ComponentProps<typeof MultiSelect>, "chosen" | "onChange">) {
  const { data } = useSandboxQuery(["scenarios"], (calls) => calls.scenarios());
  const choices = useMemo(
    () =>
      data?.items
        .filter(({ problem }) => problem === undefined)
        .map(({ name, description }) => ({ id: name, title: name, detail: description })),
    [data],
  );
  return (
    <MultiSelect
      label="Scenarios"
      listLabel="Scenarios active from the start"
      findPrompt="Filter scenarios"
      choices={choices}
      {...props}
    />
  );
}

const DEFAULT_CHOICE = "";
const DOCUMENT_CHOICE = "{}";
/** The name of a fixture, or a document typed as JSON. */
const FIXTURE_INPUTS = { fixture: DEFAULT_CHOICE, document: '{\n  "extends": "reference"\n}' };
/** Whether a call can name the fixture: others come from a document (`inline`) or, by its path, from a file. */
const isNamed = (fixture: string) => fixture !== "inline" && !/[\\/]|^\.|\.(ya?ml|json)$/i.test(fixture);

type FixtureInputs = typeof FIXTURE_INPUTS;

function FixtureField(props: {
  choice: string;
  field: (name: keyof FixtureInputs) => Pick<ComponentProps<typeof Field>, "name" | "value" | "onChange">;
  defaultTitle: string;
}) {
  const { choice, field, defaultTitle } = props;
  const { data } = useSandboxes();
  const names = new Set(["reference", ...(data?.items ?? []).map(({ fixture }) => fixture).filter(isNamed)]);
  const isDocument = choice === DOCUMENT_CHOICE;
  return (
    <>
      <ChoiceField
        label="Fixture"
        {...field("fixture")}
        name={isDocument ? "" : "fixture"}
        choices={[
          { id: DEFAULT_CHOICE, title: defaultTitle },
          ...[...names].map((id) => ({ id, title: id })),
          { id: DOCUMENT_CHOICE, title: "Custom", detail: "as JSON" },
        ]}
      />
      {isDocument && (
        <Field
          label="Fixture as JSON"
          {...field("document")}
          name="fixture"
          lines={8}
          hint="Each collection is a list of records, or a number of records to generate."
        />
      )}
    </>
  );
}

/** @throws ControlError for invalid JSON */
function toFixture({ fixture, document }: FixtureInputs): Pick<SandboxOptions, "fixture"> {
  if (fixture === DEFAULT_CHOICE) return {};
  return { fixture: fixture === DOCUMENT_CHOICE ? requireJson(document, "fixture") : fixture } as never;
}

const BEFORE_RESET = "before-reset";

/** Also restores what the snapshot lacks: rules, scenarios, and the seed and named fixture that the next reset uses. */
async function undoReset(
  calls: SandboxCalls,
  { sandbox, rules }: { sandbox: SandboxState; rules: readonly FaultRule[] },
): Promise<void> {
  const { fixture, seed, scenarios } = sandbox;
  await calls.reset({ seed, ...(isNamed(fixture) && { fixture }) } as SandboxOptions);
  await calls.restoreSnapshot(BEFORE_RESET);
  await calls.activate(scenarios);
  // A newly armed rule becomes the first, so the last one is armed first.
  for (const rule of rules.toReversed()) if (!rule.spent) await calls.addRule(toDefinition(rule));
}

export function ResetDialog({ sandbox, onClose }: { sandbox: SandboxState; onClose: () => void }) {
  const { name, seed, fixture: current } = sandbox;
  const { inputs, field } = useInputs({ ...FIXTURE_INPUTS, seed: "" });
  const calls = createSandboxCalls(name);
  const reset = useChange(
    async () => {
      const options = {
        ...toFixture(inputs),
        ...(inputs.seed.trim() && { seed: toNumberOrText(inputs.seed) }),
      };
      const before = { sandbox: await calls.show(), rules: (await calls.rules()).items };
      if ((await calls.snapshots()).items.some((one) => one.name === BEFORE_RESET))
        await calls.removeSnapshot(BEFORE_RESET);
      await calls.takeSnapshot(BEFORE_RESET);
      await calls.reset(options);
      return before;
    },
    { confirmation: `Reset ${name}.`, undo: (before) => undoReset(calls, before) },
  );
  return (
    <Dialog title={`Reset ${name}?`} onClose={onClose}>
      <Form submit="Reset" look="danger" change={reset} onSuccess={onClose} onCancel={onClose}>
        <p>
          Resets data, credentials, rate limits, pending retries, rules, active scenarios and the timeline.
          The clock returns to its start, or stays in real time. Its mode, the settings and the snapshots
          stay. The current state is saved as the snapshot <code>{BEFORE_RESET}</code>, without rules and
          scenarios. The timeline cannot be restored.
        </p>
        <FixtureField choice={inputs.fixture} field={field} defaultTitle={`Unchanged: ${current}`} />
        <Field label="Seed" {...field("seed")} placeholder={`${seed} (unchanged)`} />
      </Form>
    </Dialog>
  );
}

export function ForkDialog(props: {
  title: string;
  fork: (options: { name?: string }) => Promise<{ name: string }>;
  onForked: (name: string) => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const { title, fork, onForked, onClose, children } = props;
  const { inputs, field } = useInputs({ name: "" });
  const [currentPath, navigate] = useLocation();
  const search = useSearch();
  const create = useChange(() => fork(omitEmptyInputs(inputs)), {
    confirmation: ({ name }) => `Forked into sandbox ${name}, which is open now.`,
    undo: async ({ name }) => {
      navigate(search ? `${currentPath}?${search}` : currentPath);
      await createSandboxCalls(name).remove();
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit="Fork" change={create} onSuccess={({ name }) => onForked(name)} onCancel={onClose}>
        <p>{children}</p>
        <Field label="Name" {...field("name")} autoFocus hint={NAME_HINT} />
      </Form>
    </Dialog>
  );
}
