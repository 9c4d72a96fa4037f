import { useParameters } from "../../address.ts";
import { TabLinks } from "../../parts/tab-links.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Hooks } from "./hooks.tsx";
import { ReceiverTest } from "./receiver-test.tsx";
import { Receivers } from "./receivers.tsx";
import { Trigger } from "./trigger.tsx";
import "./webhooks.css";

const TABS = [
  { id: "deliveries", title: "Deliveries", Part: Deliveries },
  { id: "webhooks", title: "Webhooks", Part: Hooks },
  { id: "trigger", title: "Trigger an event", Part: Trigger },
  { id: "receivers", title: "Receivers", Part: Receivers },
  { id: "test", title: "Receiver test", Part: ReceiverTest },
];

/** What is delivered and to whom; the events that are, and receivers to try them on. */
export default function Webhooks() {
  const { get } = useParameters();
  const shown = TABS.find(({ id }) => id === get("show")) ?? TABS[0]!;
  return (
    <>
      <header className="webhooks-head">
        <h1>Webhooks</h1>
        <TabLinks
          label="Parts of webhooks"
          view="webhooks"
          tabs={TABS.map(({ id, title }) => ({
            id,
            title,
            parameters: id === TABS[0]!.id ? {} : { show: id },
          }))}
          current={shown.id}
        />
      </header>
      <shown.Part key={shown.id} />
    </>
  );
}
