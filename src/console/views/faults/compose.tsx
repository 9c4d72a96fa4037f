import { useState } from "react";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { RuleDefinition } from "../../api/types.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { type Choice, ChoiceField, Form } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";
import {
  BLANK,
  DELAYS,
  type Draft,
  LEASES,
  operationChoices,
  outcomeChoices,
  PHASES,
  ruleOf,
  SCHEDULES,
} from "./draft.ts";
import { ruleWords } from "./rule-words.ts";

const MAX_USERS = 500;

/** A rule from choices alone; what it will do is said in words and as the document that is sent. */
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
  // Another operation may not know the code that was chosen.
  const outcome = outcomes.some(({ id }) => id === draft.outcome) ? draft.outcome : BLANK.outcome;
  const rule = ruleOf({ ...draft, outcome });
  const people: Choice[] = [
    { id: "", title: "Anybody" },
    ...(users.data?.items ?? []).map(({ id, email }) => ({ id, title: id, detail: email })),
  ];
  const doesNothing = outcome === "" && draft.delay === "";
  return (
    <DetailPane title="Compose a rule" label="Compose a rule" onClose={onClose}>
      <Form
        submit="Arm the rule"
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
          choices={people}
        />
        <ChoiceField
          label="Answer"
          name="effect"
          value={outcome}
          onChange={choose("outcome")}
          choices={outcomes}
        />
        <div className="compose-pair">
          <ChoiceField
            label="When"
            name="effect.delay"
            value={draft.delay}
            onChange={choose("delay")}
            choices={DELAYS}
          />
          <ChoiceField
            label="How often"
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
            label="How long"
            name="lease"
            value={draft.lease}
            onChange={choose("lease")}
            choices={LEASES}
          />
        </div>
        {doesNothing ? (
          <Notice outcome="refused">The real answer, at once: choose an answer or a delay.</Notice>
        ) : (
          <p className="compose-words">{ruleWords(rule)}.</p>
        )}
        {arm.data && !arm.isPending && <Notice outcome="ok">{arm.data.id} is armed.</Notice>}
      </Form>
      <details className="compose-document">
        <summary>The rule as a document</summary>
        <pre>{JSON.stringify(rule, null, 2)}</pre>
        <CopyButton text={JSON.stringify(rule)} label="Copy" />
      </details>
    </DetailPane>
  );
}
