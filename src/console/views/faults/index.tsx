import { useCallback } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ReadProblem } from "../../parts/notice.tsx";
import { ArmedRules } from "./armed-rules.tsx";
import { ComposePane } from "./compose.tsx";
import { ExplainPane } from "./explain.tsx";
import { ScenarioDetail } from "./scenario-detail.tsx";
import { Switchboard } from "./switchboard.tsx";
import "./faults.css";

/** The files of scenarios are watched by the server, which tells nobody. */
const FILES_MS = 3000;

/** What fails here, and what could: rules that are armed, scenarios to switch on, a rule to compose. */
export default function Faults() {
  const parameters = useParameters();
  const { set } = parameters;
  const scenarios = useSandboxQuery(["scenarios"], (calls) => calls.scenarios(), { everyMs: FILES_MS });
  const rules = useSandboxQuery(["faults"], (calls) => calls.rules());
  const compose = parameters.get("compose");
  const explain = parameters.get("explain");
  const chosen = parameters.get("scenario");
  const scenario = scenarios.data?.items.find(({ name }) => name === chosen);
  const close = useCallback(
    () => set({ compose: undefined, scenario: undefined, explain: undefined, by: undefined }),
    [set],
  );
  return (
    <div className="split">
      <div className="page faults">
        <div className="page-head">
          <h1>Faults</h1>
          <Button
            className="button"
            onPress={() => set({ explain: "models.list", compose: undefined, scenario: undefined })}
          >
            What would happen?
          </Button>
          <Button
            className="button primary"
            onPress={() => set({ compose: "*", scenario: undefined, explain: undefined })}
          >
            Compose a rule
          </Button>
        </div>
        <ReadProblem error={rules.error ?? scenarios.error} />
        {rules.data && <ArmedRules rules={rules.data.items} />}
        {scenarios.data && <Switchboard scenarios={scenarios.data.items} />}
      </div>
      {compose && <ComposePane onClose={close} />}
      {!compose && explain && <ExplainPane onClose={close} />}
      {!compose && !explain && scenario && <ScenarioDetail scenario={scenario} onClose={close} />}
    </div>
  );
}
