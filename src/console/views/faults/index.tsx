import { useState } from "react";
import { type Parameters, useParameters } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ActionButton } from "../../components/button.tsx";
import { LoadError, NotFound } from "../../components/status.tsx";
import { ArmedRules } from "./armed-rules.tsx";
import { ComposePane, EditPane } from "./compose.tsx";
import { ExplainPane } from "./explain.tsx";
import { ScenarioPane } from "./scenario-pane.tsx";
import { ScenarioList } from "./scenarios.tsx";
import "./faults.css";

/** Scenario files are polled, since no stream reports that they changed. */
const FILE_POLL_MS = 3000;

export default function Faults() {
  const { get, set } = useParameters();
  const scenarios = useSandboxQuery(["scenarios"], (calls) => calls.scenarios(), { pollMs: FILE_POLL_MS });
  const rules = useSandboxQuery(["faults"], (calls) => calls.rules());
  const scenario = scenarios.data?.items.find(({ name }) => name === get("scenario"));
  const armedRule = rules.data?.items.find(({ id }) => id === get("edit"));
  const [lastEdited, setLastEdited] = useState(armedRule);
  if (armedRule && armedRule !== lastEdited) setLastEdited(armedRule);
  // The pane stays, with what the user typed, when its rule is disarmed.
  const editedRule = armedRule ?? (lastEdited?.id === get("edit") ? lastEdited : undefined);
  const open = (pane: Parameters) =>
    set({ explain: undefined, compose: undefined, scenario: undefined, edit: undefined, ...pane });
  /** Closes all panes, and removes the user of the pane that explains a call. */
  const close = () => open({ by: undefined });
  return (
    <div className="split grow">
      <div className="page stack grow faults">
        <div className="page-head">
          <h1>Faults</h1>
          <ActionButton label="Explain a call" onPress={() => open({ explain: "models.list" })} />
          <ActionButton label="New rule" look="primary" onPress={() => open({ compose: "*" })} />
        </div>
        <LoadError error={rules.error ?? scenarios.error} />
        {scenarios.data && get("scenario") && !scenario && <NotFound kind="scenario" id={get("scenario")} />}
        {rules.data && get("edit") && !editedRule && <NotFound kind="rule" id={get("edit")} />}
        {rules.data && <ArmedRules rules={rules.data.items} onEdit={(edit) => open({ edit })} />}
        {scenarios.data && (
          <ScenarioList scenarios={scenarios.data.items} onSelect={(scenario) => open({ scenario })} />
        )}
      </div>
      {editedRule ? (
        <EditPane key={editedRule.id} rule={editedRule} isArmed={armedRule !== undefined} onClose={close} />
      ) : get("compose") ? (
        <ComposePane onClose={close} />
      ) : get("explain") ? (
        <ExplainPane onClose={close} />
      ) : (
        scenario && <ScenarioPane scenario={scenario} onClose={close} />
      )}
    </div>
  );
}
