import { useCallback } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { LoadError } from "../../components/notice.tsx";
import { ArmedRules } from "./armed-rules.tsx";
import { ComposePane } from "./compose.tsx";
import { ExplainPane } from "./explain.tsx";
import { ScenarioList } from "./scenario-list.tsx";
import { ScenarioPane } from "./scenario-pane.tsx";
import "./faults.css";

/** No stream reports changed scenario files. */
const FILES_MS = 3000;

/** Armed rules and scenarios, with panes to create a rule and to explain a call. */
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
            Explain a call
          </Button>
          <Button
            className="button primary"
            onPress={() => set({ compose: "*", scenario: undefined, explain: undefined })}
          >
            New rule
          </Button>
        </div>
        <LoadError error={rules.error ?? scenarios.error} />
        {rules.data && <ArmedRules rules={rules.data.items} />}
        {scenarios.data && <ScenarioList scenarios={scenarios.data.items} />}
      </div>
      {compose && <ComposePane onClose={close} />}
      {!compose && explain && <ExplainPane onClose={close} />}
      {!compose && !explain && scenario && <ScenarioPane scenario={scenario} onClose={close} />}
    </div>
  );
}
