import { useParameters } from "../../address.ts";
import { TabLinks } from "../../components/layout.tsx";
import { Deliveries } from "./deliveries.tsx";
import { ReceiverTest } from "./receiver-test.tsx";
import { Receivers } from "./receivers.tsx";
import { Trigger } from "./trigger.tsx";
import { WebhookList } from "./webhook-list.tsx";
import "./webhooks.css";

const TABS = [
  { id: "deliveries", title: "Deliveries", Part: Deliveries },
  { id: "webhooks", title: "Webhooks", Part: WebhookList },
  { id: "trigger", title: "Trigger event", Part: Trigger },
  { id: "receivers", title: "Receivers", Part: Receivers },
  { id: "test", title: "Receiver test", Part: ReceiverTest },
];

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
