import { useCallback, useMemo } from "react";
import { Button } from "react-aria-components";
import { useParameters } from "../../address.ts";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, LoadError, NotFound } from "../../components/notice.tsx";
import { RelativeTime, useSandboxNow } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import type { Webhook } from "./attempts.ts";
import { RegisterWebhook } from "./register-webhook.tsx";
import { useWebhooks } from "./use-webhooks.ts";
import { WebhookPane } from "./webhook-pane.tsx";

const makeColumns = (now: number): readonly Column<Webhook>[] => [
  {
    id: "state",
    title: "State",
    value: ({ active }) => (active ? 0 : 1),
    show: ({ active }) => <Badge outcome={active ? "ok" : "other"}>{active ? "active" : "inactive"}</Badge>,
    width: "6rem",
  },
  { id: "url", title: "URL", value: ({ url }) => url, width: "minmax(0, 1.6fr)" },
  {
    id: "events",
    title: "Events",
    value: ({ events }) => events.join(", "),
    width: "minmax(0, 1fr)",
    from: "medium",
  },
  {
    id: "organization",
    title: "Organization",
    value: ({ organization_id }) => organization_id,
    width: "7rem",
    from: "wide",
  },
  {
    id: "last",
    title: "Last delivery",
    value: ({ last_delivery }) => last_delivery ?? "",
    show: ({ last_delivery }) =>
      last_delivery === null ? (
        <span className="quiet">none</span>
      ) : (
        <RelativeTime at={last_delivery} now={now} />
      ),
    width: "7rem",
    from: "medium",
  },
];
const getKey = ({ webhook_id }: Webhook) => webhook_id;

export function WebhookList() {
  const { get, set } = useParameters();
  const now = useSandboxNow();
  const columns = useMemo(() => makeColumns(now), [now]);
  const { data, error } = useWebhooks();
  const chosen = data?.items.find(({ webhook_id }) => webhook_id === get("webhook"));
  const registering = get("register");
  const close = useCallback(() => set({ webhook: undefined, register: undefined }), [set]);
  return (
    <div className="split">
      <div className="page">
        <div className="webhooks-tools">
          <span className="quiet">Each has its own secret; failures are retried; a 410 disables it.</span>
          <Button className="button primary" onPress={() => set({ register: "new", webhook: undefined })}>
            Register webhook
          </Button>
        </div>
        <LoadError error={error} />
        {get("webhook") !== undefined && data && !chosen && <NotFound kind="webhook" id={get("webhook")} />}
        <VirtualTable
          label="Webhooks"
          columns={columns}
          rows={data?.items}
          getKey={getKey}
          selected={chosen?.webhook_id}
          onSelect={({ webhook_id }) => set({ webhook: webhook_id, register: undefined })}
          empty={
            <EmptyState title="No webhooks yet">
              {" "}
              Register one here or by <code>POST /webhooks</code>. To try one without code, create a receiver.{" "}
            </EmptyState>
          }
        />
      </div>
      {registering !== undefined && <RegisterWebhook onClose={close} />}
      {registering === undefined && chosen && (
        <WebhookPane key={chosen.webhook_id} webhook={chosen} onClose={close} />
      )}
    </div>
  );
}
