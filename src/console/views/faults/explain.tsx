import { useMemo, useState } from "react";
import type { ExplainInput, Explanation } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { parsedJson } from "../../api/form-fields.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ChoiceField, Field, Form } from "../../components/form.tsx";
import { DetailPane, Section } from "../../components/layout.tsx";
import { Badge, type Outcome } from "../../components/mark.tsx";
import { Notice } from "../../components/notice.tsx";

const MAX_USERS = 500;
const NO_CREDENTIALS = "";

/** Dry run: explains the response to a call without making it and without counting hits. */
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
  const principal = get("by") ?? NO_CREDENTIALS;
  // Live: rules and calls change the result.
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
        ...(principal !== NO_CREDENTIALS && { principal }),
        ...(body.trim() && { body: parsedJson(body, "body") }),
      });
      setUnreadable(undefined);
    } catch (error) {
      setUnreadable(error);
    }
  };
  return (
    <DetailPane title="Explain a call" label="Explain a call" onClose={onClose}>
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
            { id: NO_CREDENTIALS, title: "No credentials" },
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
            hint="If empty, checks that need it are skipped."
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

const OUTCOME_WORDS: Readonly<Record<Step["outcome"], string>> = {
  passes: "passes",
  decides: "decides the response",
  "not judged": "not evaluated",
  "not reached": "not reached",
};

function Explained({ explanation }: { explanation: Explanation }) {
  const { steps, rules } = explanation;
  return (
    <div className="explained" role="region" aria-label="Explanation">
      <Notice outcome={toOutcome(explanation)}>{describeExplanation(explanation)}</Notice>
      <Section title="Steps">
        <ol className="explained-list" aria-label="Steps">
          {steps.map(({ step, outcome, says }) => (
            <li key={step}>
              <Badge outcome={outcome === "decides" && step === "rule" ? "ok" : STEPS[outcome]}>{step}</Badge>
              <span>
                {OUTCOME_WORDS[outcome]}
                {says && <span className="quiet">: {says}</span>}
              </span>
            </li>
          ))}
        </ol>
      </Section>
      <Section title={rules.length === 0 ? "No active rules" : "Rules, in order of evaluation"}>
        <ul className="explained-list" aria-label="Rules">
          {rules.map(({ rule, strikes, why }) => (
            <li key={rule}>
              <Badge outcome={strikes ? "fault" : "off"}>{strikes ? "applies" : "skipped"}</Badge>
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

function toOutcome({ decision, status }: Explanation): Outcome {
  if (decision === null) return "waiting";
  if (decision.startsWith("fault:")) return "fault";
  if (status === null || status === 0 || status >= 500) return "failed";
  return status >= 400 ? "refused" : "ok";
}

function describeExplanation({ decision, status, code, principal }: Explanation): string {
  const caller = principal ?? "An anonymous caller";
  if (decision === null) return "Not decided: fill in the empty fields for a complete result.";
  const response = status === 0 ? "no response" : [status ?? "a response", code].filter(Boolean).join(" ");
  return `${caller} would get ${response}${decision === "ok" ? "" : ` (${decision})`}.`;
}
