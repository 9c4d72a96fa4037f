import { useState } from "react";
import type { ExplainInput, Explanation } from "../../../../types/control-api.ts";
import { toPrintableLines } from "../../../engine/contract/text.ts";
import { getOwn, isEqual } from "../../../engine/maps.ts";
import { useParameters } from "../../address.ts";
import { omitEmptyInputs, requireJson } from "../../api/form-fields.ts";
import { listOperations } from "../../api/open-api.ts";
import { useCoverage, useOpenApi, useSandboxQuery } from "../../api/queries.ts";
import { ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { DetailPane, revealElement, Section } from "../../components/layout.tsx";
import { Badge, Notice, type Outcome, toStatusOutcome } from "../../components/status.tsx";
import { formatRuleName } from "../../components/text.tsx";
import { formatReason } from "../timeline/words.ts";
import { listOperationChoices, useCallerChoices } from "./rule-draft.ts";

const ANONYMOUS = "";

/** Dry run: explains the response to a call without making it and without counting hits. */
export function ExplainPane({ onClose }: { onClose: () => void }) {
  const { get, set } = useParameters();
  const { data: coverage } = useCoverage({ live: false });
  const operation = get("explain") ?? "";
  const operationCoverage = coverage?.operations.find((one) => one.operation === operation);
  const params = [...(operationCoverage?.path ?? "").matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!);
  const { data: openApi } = useOpenApi();
  const documented = openApi && listOperations(openApi).find((one) => one.operationId === operation);
  const takesBody = documented?.requestBody !== undefined;
  const { inputs, changeInputs } = useInputs<string>({});
  const [body, setBody] = useState("");
  const principal = get("by") ?? ANONYMOUS;
  const call = {
    operation,
    params: omitEmptyInputs(Object.fromEntries(params.map((name) => [name, getOwn(inputs, name) ?? ""]))),
    ...(principal !== ANONYMOUS && { principal }),
  } as ExplainInput;
  const input = { call, body: takesBody ? body : "" };
  const [request, setRequest] = useState<typeof input>();
  // Live: rules and calls change the result.
  const { data, error, isFetching } = useSandboxQuery(
    ["explain", request],
    async (calls) => {
      const { call, body } = request!;
      return calls.explain({ ...call, ...(body.trim() && { body: requireJson(body, "body") }) });
    },
    { enabled: request !== undefined },
  );
  const change = {
    isPending: isFetching && !data,
    error,
    mutate: () => setRequest(input),
  };
  const sentCode = operationCoverage?.outcomes.find(({ code }) => code === data?.code)?.sent_code;
  return (
    <DetailPane title="Explain a call" label="Explain a call" onClose={onClose}>
      <Form submit="Explain" change={change}>
        <p className="quiet">Shows how a call would be answered now, and why, without making it.</p>
        <ChoiceField
          label="Operation"
          name="operation"
          value={operation}
          onChange={(explain) => set({ explain }, { replace: true })}
          choices={coverage && listOperationChoices(coverage)}
        />
        <ChoiceField
          label="Called by"
          name="principal"
          value={principal}
          onChange={(by) => set({ by }, { replace: true })}
          choices={useCallerChoices({ id: ANONYMOUS, title: "No credentials" })}
        />
        {params.map((name) => (
          <Field
            key={name}
            label={name}
            name={`params.${name}`}
            value={getOwn(inputs, name) ?? ""}
            onChange={(text) => changeInputs({ [name]: text })}
            hint="Leave empty to skip the checks that need it."
          />
        ))}
        {takesBody && <Field label="Body as JSON" name="body" value={body} onChange={setBody} lines={4} />}
      </Form>
      {data && isEqual(request, input) && (
        <ExplanationView
          explanation={{
            ...data,
            code: sentCode ?? data.code,
            principal: data.principal ?? call.principal ?? null,
          }}
        />
      )}
    </DetailPane>
  );
}

type Step = Explanation["steps"][number];

const STEPS: Readonly<Record<Step["outcome"], readonly [Outcome, string]>> = {
  passes: ["ok", "passes"],
  decides: ["refused", "decides the response"],
  skipped: ["waiting", "not evaluated"],
  "not reached": ["other", "not reached"],
};

function ExplanationView({ explanation }: { explanation: Explanation }) {
  const { steps, rules } = explanation;
  return (
    <div ref={revealElement} className="section" role="region" aria-label="Explanation">
      <Notice outcome={toOutcome(explanation)}>{describeExplanation(explanation)}</Notice>
      <Section title="Steps">
        <ol className="lines" aria-label="Steps">
          {steps.map(({ step, outcome, says }) => (
            <li key={step} className="line">
              <Badge outcome={STEPS[outcome][0]}>{nameStep(step)}</Badge>
              <span>
                {STEPS[outcome][1]}
                {says && <span className="quiet">: {toPrintableLines(formatReason(says))}</span>}
              </span>
            </li>
          ))}
        </ol>
      </Section>
      <Section title={rules.length === 0 ? "No active fault rules" : "Fault rules, in order of evaluation"}>
        <ul className="lines" aria-label="Rules">
          {rules.map(({ rule, triggers, why }) => (
            <li key={rule} className="line">
              <Badge outcome={triggers ? "fault" : "other"}>{triggers ? "applies" : "skipped"}</Badge>
              <span>
                {formatRuleName(rule)}: <span className="quiet">{toPrintableLines(why)}</span>
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  );
}

/** Steps with clearer names than in `X-Sandbox-Decision`. */
const STEP_NAMES: Partial<Record<string, string>> = {
  fault: "rules before",
  "fault-after": "rules after",
  rule: "business rule",
};

function nameStep(step: string): string {
  return STEP_NAMES[step] ?? step;
}

function toOutcome({ decision, status }: Explanation): Outcome {
  if (decision === null) return "waiting";
  if (decision.startsWith("fault:")) return "fault";
  return toStatusOutcome(status ?? 0);
}

function describeExplanation({ decision, status, code, principal, steps }: Explanation): string {
  const caller = principal ?? "An anonymous caller";
  if (decision === null) return "Not decided: fill in the empty fields for a complete result.";
  const response = status === 0 ? "no response" : [status ?? "a response", code].filter(Boolean).join(" ");
  if (decision === "ok") return `${caller} would get ${response}.`;
  if (!decision.startsWith("fault:")) return `${caller} would get ${response} (${nameStep(decision)}).`;
  // A fault that decides no step has only delayed or held the request.
  const wait = steps.some(({ outcome }) => outcome === "decides") ? "" : " after a delay or hold";
  return `${caller} would get ${response}${wait} (${formatRuleName(decision.slice("fault:".length))}).`;
}
