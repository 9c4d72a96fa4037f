import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { LoadError } from "../../components/notice.tsx";
import { ArmedRules } from "./armed-rules.tsx";
import { ComposePane } from "./compose.tsx";
import { ExplainPane } from "./explain.tsx";
import { ScenarioList, ScenarioPane } from "./scenarios.tsx";
import "./faults.css";

/** No stream reports changed scenario files. */
const FILES_MS = 3000;

/** Armed rules and scenarios, with panes to create a rule and to explain a call. */
export default function Faults() {
  const { get, set } = useParameters();
  const scenarios = useSandboxQuery(["scenarios"], (calls) => calls.scenarios(), { everyMs: FILES_MS });
  const rules = useSandboxQuery(["faults"], (calls) => calls.rules());
  const scenario = scenarios.data?.items.find(({ name }) => name === get("scenario"));
  /** Opens one pane; without a change, none. */
  const open = (pane: { explain?: string; compose?: string; scenario?: string } = {}) =>
    set({ explain: undefined, compose: undefined, scenario: undefined, ...pane });
  const close = () => {
    open();
    set({ by: undefined });
  };
  return (
    <div className="split">
      <div className="page faults">
        <div className="page-head">
          <h1>Faults</h1>
          <Button className="button" onPress={() => open({ explain: "models.list" })}>
            Explain a call
          </Button>
          <Button className="button primary" onPress={() => open({ compose: "*" })}>
            New rule
          </Button>
        </div>
        <LoadError error={rules.error ?? scenarios.error} />
        {rules.data && <ArmedRules rules={rules.data.items} />}
        {scenarios.data && (
          <ScenarioList scenarios={scenarios.data.items} onSelect={(scenario) => open({ scenario })} />
        )}
      </div>
      {get("compose") ? (
        <ComposePane onClose={close} />
      ) : get("explain") ? (
        <ExplainPane onClose={close} />
      ) : (
        scenario && <ScenarioPane scenario={scenario} onClose={close} />
      )}
    </div>
  );
}
