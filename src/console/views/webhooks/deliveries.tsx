import { useCallback, useMemo } from "react";
import { Link } from "wouter";
import { toAddress, useParameters, useSandboxName } from "../../address.ts";
import { ChoiceField } from "../../components/form.tsx";
import { Badge, type Outcome } from "../../components/mark.tsx";
import { EmptyState, LoadError, NotFound } from "../../components/notice.tsx";
import { RelativeTime, relative, useSandboxNow } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { AttemptAxis } from "./attempt-axis.tsx";
import {
  attemptMarks,
  type Delivery,
  type DeliveryState,
  deliveryState,
  totalSpan,
  type Webhook,
} from "./attempts.ts";
import { DeliveryPane } from "./delivery-pane.tsx";
import { MAX_DELIVERIES, useDelays, useDeliveries, useWebhooks } from "./use-webhooks.ts";

const OUTCOMES: Readonly<Record<DeliveryState, Outcome>> = {
  delivered: "ok",
  retrying: "refused",
  "given up": "failed",
  cancelled: "off",
};

export function DeliveryBadge({
  delivery,
  delays,
  now,
}: {
  delivery: Delivery;
  delays: readonly number[];
  now: number;
}) {
  const state = deliveryState(delivery, delays);
  const word = delivery.next_retry ? `retry ${relative(Date.parse(delivery.next_retry), now)}` : state;
  return <Badge outcome={OUTCOMES[state]}>{word}</Badge>;
}

const makeColumns = (
  now: number,
  delays: readonly number[],
  webhooks: readonly Webhook[],
): readonly Column<Delivery>[] => {
  const urls = new Map(webhooks.map(({ webhook_id, url }) => [webhook_id, url]));
  return [
    {
      id: "state",
      title: "State",
      value: (delivery) => deliveryState(delivery, delays),
      show: (delivery) => <DeliveryBadge delivery={delivery} delays={delays} now={now} />,
      width: "8.5rem",
    },
    { id: "event", title: "Event", value: ({ event }) => event, width: "minmax(5rem, 1fr)" },
    {
      id: "to",
      title: "To",
      value: ({ webhook_id }) => urls.get(webhook_id) ?? webhook_id,
      width: "minmax(0, 1.2fr)",
      from: "wide",
    },
    {
      id: "attempts",
      title: "Attempts",
      value: ({ attempts }) => attempts,
      show: (delivery) => (
        <AttemptAxis
          marks={attemptMarks(delivery, delays)}
          from={Date.parse(delivery.created_at)}
          span={totalSpan(delays)}
          now={now}
        />
      ),
      width: "minmax(6rem, 11rem)",
      from: "medium",
    },
    {
      id: "code",
      title: "Response",
      value: ({ response_code }) => response_code,
      show: ({ response_code }) =>
        response_code === 0 ? <span className="quiet">none</span> : response_code,
      width: "5.5rem",
      number: true,
    },
    {
      id: "begun",
      title: "Time",
      value: ({ created_at }) => created_at,
      show: ({ created_at }) => <RelativeTime at={created_at} now={now} />,
      width: "6.5rem",
      from: "medium",
    },
  ];
};
const getKey = ({ delivery_id }: Delivery) => delivery_id;
const ALL = "all";

/** All deliveries with their attempts. */
export function Deliveries() {
  const { get, set } = useParameters();
  const sandbox = useSandboxName();
  const now = useSandboxNow();
  const delays = useDelays();
  const webhooks = useWebhooks();
  const of = get("webhook");
  const { data, error } = useDeliveries(of);
  const columns = useMemo(
    () => makeColumns(now, delays, webhooks.data?.items ?? []),
    [now, delays, webhooks.data],
  );
  const chosen = data?.items.find(({ delivery_id }) => delivery_id === get("delivery"));
  const close = useCallback(() => set({ delivery: undefined }), [set]);
  return (
    <div className="split">
      <div className="page">
        <div className="webhooks-tools">
          <ChoiceField
            label="Webhook"
            name="webhook"
            value={of ?? ALL}
            onChange={(webhook) =>
              set({ webhook: webhook === ALL ? undefined : webhook, delivery: undefined })
            }
            choices={[
              { id: ALL, title: "All webhooks" },
              ...(webhooks.data?.items ?? []).map(({ webhook_id, url, active }) => ({
                id: webhook_id,
                title: url,
                detail: active ? webhook_id : `${webhook_id}, inactive`,
              })),
            ]}
          />
          {data && data.total > data.items.length && (
            <span className="quiet">
              newest {MAX_DELIVERIES} of {data.total.toLocaleString("en-GB")}
            </span>
          )}
        </div>
        <LoadError error={error ?? webhooks.error} />
        {get("delivery") !== undefined && data && !chosen && (
          <NotFound kind="delivery" id={get("delivery")} />
        )}
        <VirtualTable
          label="Deliveries"
          columns={columns}
          rows={data?.items}
          getKey={getKey}
          selected={chosen?.delivery_id}
          onSelect={({ delivery_id }) => set({ delivery: delivery_id })}
          empty={
            <EmptyState title="No deliveries yet">
              {" "}
              Change data that a webhook subscribes to, or{" "}
              <Link href={toAddress(sandbox, "webhooks", { show: "trigger" })}>trigger an event</Link>.{" "}
            </EmptyState>
          }
        />
      </div>
      {chosen && (
        <DeliveryPane
          key={chosen.delivery_id}
          delivery={chosen}
          webhook={webhooks.data?.items.find(({ webhook_id }) => webhook_id === chosen.webhook_id)}
          onClose={close}
        />
      )}
    </div>
  );
}
