import { useMemo, useState } from "react";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { parsedJson } from "../../api/typed-json.ts";
import type { ExplainInput, Explanation } from "../../api/types.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { ChoiceField, Field, Form } from "../../parts/form.tsx";
import { Badge, type Outcome } from "../../parts/mark.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";

const MAX_USERS = 500;
const NOBODY = "";

/** What would happen to a call of any operation by anybody, without it happening or anything being counted. */
export function ExplainPane({ onClose }: { onClose: () => void }) {
  const { get, set } = useParameters();
  const { data: coverage } = useSandboxQuery(["coverage"], (calls) => calls.coverage(), { live: false });
  const users = useSandboxQuery(["state", "users"], (calls) => calls.records("users", { limit: MAX_USERS }));
  const operations = coverage?.operations;
  const operation = get("explain") ?? "";
  const chosen = operations?.find((one) => one.operation === operation);
  const places = useMemo(
    () => [...(chosen?.path ?? "").matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
    [chosen],
  );
  const [params, setParams] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState("");
  const [asked, setAsked] = useState<ExplainInput>();
  const [unreadable, setUnreadable] = useState<unknown>();
  const principal = get("by") ?? NOBODY;
  // Asked anew while rules are armed and calls are made: it says what would happen now.
  const explanation = useSandboxQuery(["explain", asked], (calls) => calls.explain(asked!), {
    enabled: asked !== undefined,
  });
  const ask = () => {
    try {
      const given = Object.fromEntries(
        places.map((name) => [name, params[name]?.trim() ?? ""]).filter(([, value]) => value !== ""),
      );
      setAsked({
        operation: operation as NonNullable<ExplainInput["operation"]>,
        ...(Object.keys(given).length > 0 && { params: given }),
        ...(principal !== NOBODY && { principal }),
        ...(body.trim() && { body: parsedJson(body, "body") }),
      });
      setUnreadable(undefined);
    } catch (error) {
      setUnreadable(error);
    }
  };
  return (
    <DetailPane title="What would happen?" label="What would happen?" onClose={onClose}>
      <Form
        submit="Explain"
        pending={explanation.isFetching && explanation.data === undefined}
        error={unreadable ?? explanation.error}
        onSubmit={ask}
      >
        <ChoiceField
          label="Operation"
          name="operation"
          value={operation}
          onChange={(id) => set({ explain: id }, { replace: true })}
          choices={operations?.map((one) => ({
            id: one.operation,
            title: one.operation,
            detail: `${one.method} ${one.path}`,
          }))}
        />
        <ChoiceField
          label="Called by"
          name="principal"
          value={principal}
          onChange={(by) => set({ by }, { replace: true })}
          choices={[
            { id: NOBODY, title: "Nobody", detail: "no credentials" },
            ...(users.data?.items ?? []).map(({ id, email }) => ({ id, title: id, detail: email })),
          ]}
        />
        {places.map((name) => (
          <Field
            key={name}
            label={name}
            name={`params.${name}`}
            value={params[name] ?? ""}
            onChange={(text) => setParams((before) => ({ ...before, [name]: text }))}
            hint="Left empty, what depends on it is not judged."
          />
        ))}
        {chosen && chosen.method !== "GET" && (
          <Field label="Body as JSON" name="body" value={body} onChange={setBody} lines={4} />
        )}
      </Form>
      {explanation.data && <Explained explanation={explanation.data} />}
    </DetailPane>
  );
}

type Step = Explanation["steps"][number];

const STEPS: Readonly<Record<Step["outcome"], Outcome>> = {
  passes: "ok",
  decides: "refused",
  "not judged": "waiting",
  "not reached": "off",
};

function Explained({ explanation }: { explanation: Explanation }) {
  const { steps, rules } = explanation;
  return (
    <div className="explained" role="region" aria-label="Explanation">
      <Notice outcome={outcomeOf(explanation)}>{sentenceOf(explanation)}</Notice>
      <Section title="Step by step">
        <ol className="explained-list" aria-label="Steps">
          {steps.map(({ step, outcome, says }) => (
            <li key={step}>
              <Badge outcome={outcome === "decides" && step === "rule" ? "ok" : STEPS[outcome]}>{step}</Badge>
              <span>
                {outcome}
                {says && <span className="quiet">: {says}</span>}
              </span>
            </li>
          ))}
        </ol>
      </Section>
      <Section
        title={rules.length === 0 ? "No rule is in force" : "Rules, in the order in which they are asked"}
      >
        <ul className="explained-list" aria-label="Rules">
          {rules.map(({ rule, strikes, why }) => (
            <li key={rule}>
              <Badge outcome={strikes ? "fault" : "off"}>{strikes ? "strikes" : "passes"}</Badge>
              <span>
                <code>{rule}</code> <span className="quiet">{why}</span>
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  );
}

function outcomeOf({ decision, status }: Explanation): Outcome {
  if (decision === null) return "waiting";
  if (decision.startsWith("fault:")) return "fault";
  if (status === null || status === 0 || status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}

function sentenceOf({ decision, status, code, principal }: Explanation): string {
  const who = principal ?? "Nobody in particular";
  if (decision === null) return `${who} calls: what would decide cannot be told without what was left out.`;
  const answer = status === 0 ? "no answer at all" : [status ?? "an answer", code].filter(Boolean).join(" ");
  return `${who} would get ${answer}, decided by ${decision}.`;
}
