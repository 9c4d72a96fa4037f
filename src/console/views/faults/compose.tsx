import { useParameters } from "../../address.ts";
import { useCoverage, useSandboxChange } from "../../api/queries.ts";
import { ChoiceField, Form, useInputs } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { Notice } from "../../components/notice.tsx";
import { CopyButton } from "../../components/text.tsx";
import {
  BLANK,
  DELAYS,
  describeRule,
  explainEffect,
  LEASES,
  PHASES,
  patternChoices,
  responseChoices,
  SCHEDULES,
  toRule,
  useCallerChoices,
} from "./rules.ts";

export function ComposePane({ onClose }: { onClose: () => void }) {
  const { get, set } = useParameters();
  const { inputs, field } = useInputs(BLANK);
  const operation = get("compose") ?? BLANK.operation;
  const { data: coverage } = useCoverage({ live: false });
  const responses = responseChoices(coverage, operation);
  // Another operation may not have the selected error code.
  const response = responses.some(({ id }) => id === inputs.response) ? inputs.response : BLANK.response;
  const rule = toRule({ ...inputs, operation, response });
  const arm = useSandboxChange((calls) => calls.addRule(rule), {
    done: ({ id }) => `Armed ${id}.`,
    undo: (calls, { id }) => calls.removeRule(id),
  });
  const doesNothing = response === "" && inputs.delay === "";
  const mutate = () => !doesNothing && arm.mutate();
  return (
    <DetailPane title="New rule" label="New rule" onClose={onClose}>
      <Form submit="Arm rule" change={{ ...arm, mutate }}>
        <ChoiceField
          label="Operation"
          name="match.operation"
          value={operation}
          onChange={(compose) => set({ compose }, { replace: true })}
          choices={coverage && patternChoices(coverage)}
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
          <ChoiceField label="Delay" {...field("delay")} name="effect.delay" choices={DELAYS} />
          <ChoiceField label="Frequency" {...field("schedule")} name="times" choices={SCHEDULES} />
          <ChoiceField label="Phase" {...field("phase")} choices={PHASES} />
          <ChoiceField label="Duration" {...field("lease")} choices={LEASES} />
        </div>
        {doesNothing ? (
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
    </DetailPane>
  );
}
