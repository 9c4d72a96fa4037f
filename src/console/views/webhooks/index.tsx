import { TabbedView } from "../../components/layout.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Outbox } from "./outbox.tsx";
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
  { id: "outbox", title: "E-mails", Part: Outbox },
  { id: "test", title: "Receiver test", Part: ReceiverTest },
];

export default function Webhooks() {
  return <TabbedView title="Webhooks" label="Webhook sections" view="webhooks" tabs={TABS} />;
}
