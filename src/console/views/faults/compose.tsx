import { useState } from "react";
import type { FaultRule, RuleDefinition } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { requireJson } from "../../api/form-fields.ts";
import { useCoverage, useSandboxChange } from "../../api/queries.ts";
import { ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { Notice } from "../../components/status.tsx";
import { CopyButton } from "../../components/text.tsx";
import {
  BLANK_DRAFT,
  DELAYS,
  LEASES,
  listPatternChoices,
  listResponseChoices,
  PHASES,
  SCHEDULES,
  toDraft,
  toRule,
  useCallerChoices,
} from "./rule-draft.ts";
import { describeRule, explainEffect, toDefinition } from "./rules.ts";

export function ComposePane({ onClose }: { onClose: () => void }) {
  const { get, set } = useParameters();
  const arm = useSandboxChange((calls, readRule: ReadRule) => calls.addRule(readRule()), {
    confirmation: ({ id }) => `Armed ${id}.`,
    undo: (calls, { id }) => calls.removeRule(id),
  });
  const operation = get("compose") ?? BLANK_DRAFT.operation;
  return (
    <DetailPane title="New rule" label="New rule" onClose={onClose}>
      <RuleForm
        submit="Arm rule"
        initial={BLANK_DRAFT}
        change={arm}
        operation={operation}
        onOperation={(compose) => set({ compose }, { replace: true })}
      />
    </DetailPane>
  );
}

/** Edits a rule, by the form if it can express the rule, else as JSON; arms it again if it was disarmed meanwhile. */
export function EditPane(props: { rule: FaultRule; isArmed: boolean; onClose: () => void }) {
  const { rule, isArmed, onClose } = props;
  const { id } = rule;
  const [draft] = useState(() => toDraft(rule));
  const before = toDefinition(rule);
  const save = useSandboxChange(async (calls, readRule: ReadRule) => calls.changeRule(id, readRule()), {
    confirmation: `Changed ${id}; its hits count from zero.`,
    undo: (calls) => calls.changeRule(id, before),
  });
  const armAgain = useSandboxChange(
    async (calls, readRule: ReadRule) => calls.addRule({ ...readRule(), id }),
    { confirmation: `Armed ${id} again.`, undo: (calls) => calls.removeRule(id) },
  );
  const change = isArmed ? save : armAgain;
  const submit = isArmed ? "Save rule" : "Arm again";
  const [operation, setOperation] = useState(draft?.operation ?? "");
  return (
    <DetailPane title={`Edit ${id}`} label="Edit rule" onClose={onClose}>
      {!isArmed && !armAgain.isSuccess && (
        <Notice outcome="refused">This rule was disarmed. “Arm again” arms it with your changes.</Notice>
      )}
      {draft ? (
        <RuleForm
          submit={submit}
          initial={draft}
          change={change}
          onSuccess={onClose}
          operation={operation}
          onOperation={setOperation}
        />
      ) : (
        <JsonForm submit={submit} rule={before} change={change} onSuccess={onClose} />
      )}
    </DetailPane>
  );
}

/** @throws ControlError for invalid JSON */
type ReadRule = () => RuleDefinition;
type RuleChange = ReturnType<typeof useSandboxChange<FaultRule, ReadRule>>;

interface RuleFormProps {
  submit: string;
  initial: typeof BLANK_DRAFT;
  change: RuleChange;
  onSuccess?: () => void;
  operation: string;
  onOperation: (operation: string) => void;
}

function RuleForm({ submit, initial, change, onSuccess, operation, onOperation }: RuleFormProps) {
  const { inputs, field, changeInputs: edit } = useInputs(initial);
  const { data: coverage } = useCoverage({ live: false });
  const patterns = coverage && listPatternChoices(coverage);
  const isKnown = operation.includes("*") || (patterns?.some(({ id }) => id === operation) ?? true);
  const responses = listResponseChoices(coverage, operation);
  // Another operation may not have the selected error code.
  const isOffered = coverage === undefined || responses.some(({ id }) => id === inputs.response);
  const response = isOffered ? inputs.response : BLANK_DRAFT.response;
  const rule = toRule({ ...inputs, operation, response });
  // Selecting “hold” also selects the real response, unless the user selected another.
  const isInitialResponse = inputs.response === BLANK_DRAFT.response;
  const doesNothing = response === "" && inputs.delay === "";
  const mutate = () => isKnown && !doesNothing && change.mutate(() => rule, { onSuccess });
  return (
    <>
      <Form submit={submit} change={{ ...change, mutate }}>
        <ChoiceField
          label="Operation"
          name="match.operation"
          value={operation}
          onChange={onOperation}
          choices={patterns}
        />
        <ChoiceField
          label="Called by"
          {...field("principal")}
          name="match.principal"
          choices={useCallerChoices({ id: "", title: "Any user" })}
        />
        <ChoiceField
          label="Response"
          {...field("response")}
          name="effect"
          value={response}
          choices={responses}
        />
        <div className="field-grid compose-pair">
          <ChoiceField
            label="Delay"
            {...field("delay")}
            onChange={(delay) =>
              edit({ delay, ...(delay === "hold" && isInitialResponse && { response: "" }) })
            }
            name="effect.delay"
            choices={DELAYS}
          />
          <ChoiceField label="Frequency" {...field("schedule")} name="times" choices={SCHEDULES} />
          <ChoiceField label="Phase" {...field("phase")} choices={PHASES} />
          <ChoiceField label="Ends" {...field("lease")} choices={LEASES} />
        </div>
        <Field
          label="Description"
          {...field("description")}
          hint="Shown in the list of rules in place of the sentence below."
        />
        {!isKnown ? (
          <Notice outcome="refused">There is no operation {operation}. Select one.</Notice>
        ) : doesNothing ? (
          <Notice outcome="refused">This rule has no effect. Select a response or a delay.</Notice>
        ) : (
          <p className="wire compose-words">
            {describeRule(rule)}. {explainEffect(rule)}
          </p>
        )}
      </Form>
      <details className="section">
        <summary className="quiet">Rule as JSON</summary>
        <pre className="wire body">{JSON.stringify(rule, null, 2)}</pre>
        <div className="actions">
          <CopyButton text={JSON.stringify(rule)} />
        </div>
      </details>
    </>
  );
}

function JsonForm(props: Pick<RuleFormProps, "submit" | "change" | "onSuccess"> & { rule: RuleDefinition }) {
  const { submit, rule, change, onSuccess } = props;
  const [text, setText] = useState(() => JSON.stringify(rule, null, 2));
  const mutate = () => change.mutate(() => requireJson(text, "rule") as RuleDefinition, { onSuccess });
  return (
    <Form submit={submit} change={{ ...change, mutate }}>
      <Field
        label="Rule as JSON"
        name="rule"
        value={text}
        onChange={setText}
        lines={18}
        hint="This rule has a value that the form does not offer."
      />
    </Form>
  );
}
