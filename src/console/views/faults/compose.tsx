import { useState } from "react";
import type { RuleDefinition } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { type Choice, ChoiceField, Form } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { Notice } from "../../components/notice.tsx";
import { CopyButton } from "../../components/text.tsx";
import {
  BLANK,
  DELAYS,
  type Draft,
  LEASES,
  operationChoices,
  outcomeChoices,
  PHASES,
  SCHEDULES,
  toRule,
} from "./draft.ts";
import { describeRule } from "./rule-words.ts";

const MAX_USERS = 500;

/** Builds a rule from selections, with a description and the JSON that is sent. */
export function ComposePane({ onClose }: { onClose: () => void }) {
  const { get, set } = useParameters();
  const [rest, setRest] = useState(BLANK);
  const draft: Draft = { ...rest, operation: get("compose") ?? BLANK.operation };
  const choose = (part: keyof Draft) => (value: string) =>
    setRest((before) => ({ ...before, [part]: value }));
  const { data: coverage } = useSandboxQuery(["coverage"], (calls) => calls.coverage(), { live: false });
  const users = useSandboxQuery(["state", "users"], (calls) => calls.records("users", { limit: MAX_USERS }));
  const arm = useSandboxChange((calls, rule: RuleDefinition) => calls.addRule(rule));
  const outcomes = outcomeChoices(coverage, draft.operation);
  // Another operation may not have the selected error code.
  const outcome = outcomes.some(({ id }) => id === draft.outcome) ? draft.outcome : BLANK.outcome;
  const rule = toRule({ ...draft, outcome });
  const callers: Choice[] = [
    { id: "", title: "Any user" },
    ...(users.data?.items ?? []).map(({ id, email }) => ({ id, title: id, detail: email })),
  ];
  const doesNothing = outcome === "" && draft.delay === "";
  return (
    <DetailPane title="New rule" label="New rule" onClose={onClose}>
      <Form
        submit="Arm rule"
        pending={arm.isPending}
        error={arm.error}
        onSubmit={() => !doesNothing && arm.mutate(rule)}
      >
        <ChoiceField
          label="Operation"
          name="match.operation"
          value={draft.operation}
          onChange={(operation) => set({ compose: operation }, { replace: true })}
          choices={coverage && operationChoices(coverage)}
        />
        <ChoiceField
          label="Called by"
          name="match.principal"
          value={draft.principal}
          onChange={choose("principal")}
          choices={callers}
        />
        <ChoiceField
          label="Response"
          name="effect"
          value={outcome}
          onChange={choose("outcome")}
          choices={outcomes}
        />
        <div className="compose-pair">
          <ChoiceField
            label="Delay"
            name="effect.delay"
            value={draft.delay}
            onChange={choose("delay")}
            choices={DELAYS}
          />
          <ChoiceField
            label="Frequency"
            name="times"
            value={draft.schedule}
            onChange={choose("schedule")}
            choices={SCHEDULES}
          />
          <ChoiceField
            label="Phase"
            name="phase"
            value={draft.phase}
            onChange={choose("phase")}
            choices={PHASES}
          />
          <ChoiceField
            label="Duration"
            name="lease"
            value={draft.lease}
            onChange={choose("lease")}
            choices={LEASES}
          />
        </div>
        {doesNothing ? (
          <Notice outcome="refused">This rule has no effect. Select a response or a delay.</Notice>
        ) : (
          <p className="compose-words">{describeRule(rule)}.</p>
        )}
        {arm.data && !arm.isPending && <Notice outcome="ok">Rule {arm.data.id} armed.</Notice>}
      </Form>
      <details className="compose-document">
        <summary>Rule as JSON</summary>
        <pre>{JSON.stringify(rule, null, 2)}</pre>
        <CopyButton text={JSON.stringify(rule)} label="Copy" />
      </details>
    </DetailPane>
  );
}
