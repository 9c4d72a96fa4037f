import { getOwn } from "../../../engine/maps.ts";
import { useParameters } from "../../address.ts";
import {
  usePollingWhileRunning,
  useRecord,
  useRecords,
  useSandbox,
  useSandboxChange,
} from "../../api/queries.ts";
import { ConfirmButton } from "../../components/button.tsx";
import { BodyText } from "../../components/exchange.tsx";
import { createMatcher, parseFilter } from "../../components/filter-language.ts";
import { ChoiceField, FilterField } from "../../components/form.tsx";
import { DetailPane, Facts, ListView, Section, ViewLink } from "../../components/layout.tsx";
import { Badge, EmptyState, Notice, type Outcome } from "../../components/status.tsx";
import { ClippedPath, CopyButton, formatCount, formatShown, pluralize } from "../../components/text.tsx";
import { formatAbsolute, formatRelative, RelativeTime, useSandboxNow } from "../../components/time.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import { AttemptAxis, AttemptList } from "./attempt-list.tsx";
import { type Delivery, type DeliveryRow, type DeliveryState, toRow, type Webhook } from "./attempts.ts";
import { CallAsMember } from "./call-as-member.tsx";
import { RetryNow } from "./retry-now.tsx";
import { canSign, formatOpensslCommand, useSignature } from "./signature.ts";
import { useRetryDelays, useWebhookChoices, useWebhooks } from "./use-webhooks.ts";

const BADGES: Readonly<Record<DeliveryState, Outcome>> = {
  delivered: "ok",
  retrying: "refused",
  "given up": "failed",
  cancelled: "cancelled",
};

function DeliveryBadge({ row: { state, next_retry } }: { row: DeliveryRow }) {
  const now = useSandboxNow();
  const word = next_retry ? `retry ${formatRelative(Date.parse(next_retry), now)}` : state;
  return <Badge outcome={BADGES[state]}>{word}</Badge>;
}

const COLUMNS: readonly Column<DeliveryRow>[] = [
  {
    id: "state",
    title: "State",
    renderCell: (row) => <DeliveryBadge row={row} />,
    width: "minmax(0, 8.5rem)",
  },
  { id: "event", title: "Event", width: "minmax(7rem, 1fr)" },
  {
    id: "to",
    title: "To",
    renderCell: ({ to }) => <ClippedPath>{to}</ClippedPath>,
    width: "minmax(0, 1.2fr)",
    minTableWidth: "wide",
  },
  {
    id: "attempts",
    title: "Attempts",
    renderCell: (row) => <AttemptAxis delivery={row} />,
    width: "minmax(6rem, 11rem)",
    minTableWidth: "medium",
  },
  {
    id: "response_code",
    title: "Response",
    renderCell: ({ response_code }) => response_code || <span className="quiet">none</span>,
    width: "5.5rem",
    isNumber: true,
  },
  {
    id: "created_at",
    title: "Time",
    renderCell: ({ created_at }) => <RelativeTime at={created_at} />,
    width: "6.5rem",
    minTableWidth: "medium",
  },
];

const FIELDS: Readonly<Record<string, (row: DeliveryRow) => unknown>> = {
  state: ({ state }) => state,
  event: ({ event }) => event,
  to: ({ to }) => to,
  webhook: ({ webhook_id }) => webhook_id,
  status: ({ response_code }) => response_code || "none",
  attempts: ({ attempts }) => attempts,
  body: ({ body }) => body,
  id: ({ delivery_id }) => delivery_id,
};

function joinText({ event, to, webhook_id, delivery_id, body, response_code }: DeliveryRow): string {
  return [event, to, webhook_id, delivery_id, body, response_code].join("\n").toLowerCase();
}

/** Limits the response size, since deliveries contain their payload. */
const MAX_DELIVERIES = 500;
const ALL = "all";

export function Deliveries() {
  const { get, set } = useParameters();
  const delays = useRetryDelays();
  const { webhooks, error: webhooksError } = useWebhooks();
  const webhook_id = get("webhook");
  const query = { limit: MAX_DELIVERIES, ...(webhook_id !== undefined && { webhook_id }) };
  const { data, error } = useRecords("deliveries", query, usePollingWhileRunning());
  const selected = get("delivery");
  const listed = data?.items.find(({ delivery_id }) => delivery_id === selected);
  const unlisted = useRecord("deliveries", selected, { enabled: Boolean(selected && data && !listed) });
  const delivery = listed ?? (unlisted.isSuccess ? unlisted.data : undefined);
  const typed = get("find") ?? "";
  const webhooksById = new Map(webhooks?.map((webhook) => [webhook.webhook_id, webhook]));
  const toShown = (one: Delivery) => toRow(one, delays, webhooksById.get(one.webhook_id));
  const rows = data?.items
    .map(toShown)
    .filter(createMatcher(parseFilter(typed), (row, field) => getOwn(FIELDS, field)?.(row), joinText));
  const isComplete = data === undefined || data.total <= data.items.length;
  // A record that waits for a retry has the status `failed` too; only the control API's list calls it `pending`.
  const failedCount = data?.items.filter(({ status }) => status === "failed").length ?? 0;
  const redeliver = useSandboxChange((calls) => calls.redeliverFailed(webhook_id), {
    confirmation: ({ total }) => `Redelivered ${pluralize(total, "delivery", "deliveries")}.`,
  });
  return (
    <ListView
      head={
        <div className="tools">
          <ChoiceField
            label="Webhook"
            name="webhook"
            value={webhook_id ?? ALL}
            onChange={(id) => set({ webhook: id === ALL ? undefined : id, delivery: undefined })}
            choices={useWebhookChoices({ id: ALL, title: "All webhooks" })}
          />
          <FilterField
            label="Filter deliveries"
            placeholder="Filter: state:retrying"
            hint={`Fields: ${Object.keys(FIELDS).join(", ")}`}
            value={typed}
            onChange={(find) => set({ find }, { replace: true })}
          />
          <span className="quiet" role="status">
            {data && rows && formatShown(rows.length, data.items.length, "delivery", "deliveries")}
          </span>
          {failedCount > 0 && (
            <ConfirmButton
              title={
                isComplete
                  ? `Redeliver ${pluralize(failedCount, "failed delivery", "failed deliveries")}?`
                  : "Redeliver all failed deliveries?"
              }
              verb="Redeliver all failed"
              look=""
              change={redeliver}
            >
              Sends each failed delivery again now, without waiting for its retry.{" "}
              {!isComplete &&
                "Includes failed deliveries that are not listed here. If more than 1,000 have failed, nothing is sent. "}
              Undo cannot unsend them.
            </ConfirmButton>
          )}
          {data && !isComplete && (
            <span className="quiet">
              Newest {MAX_DELIVERIES} of {formatCount(data.total)}
            </span>
          )}
        </div>
      }
      error={error ?? webhooksError ?? unlisted.error}
      label="Deliveries"
      columns={COLUMNS}
      rows={rows}
      getKey={({ delivery_id }) => delivery_id}
      selected={selected}
      onSelect={({ delivery_id }) => set({ delivery: delivery_id })}
      empty={
        typed ? (
          <EmptyState title={`No deliveries match “${typed}”`} />
        ) : (
          <EmptyState title="No deliveries yet">
            Change data that a webhook subscribes to, or{" "}
            <ViewLink view="webhooks" query={{ show: "trigger" }}>
              trigger an event
            </ViewLink>
            .
          </EmptyState>
        )
      }
      otherPane={
        delivery && (
          <DeliveryPane
            key={selected}
            delivery={toShown(delivery)}
            onClose={() => set({ delivery: undefined })}
          />
        )
      }
    />
  );
}

function DeliveryPane({ delivery, onClose }: { delivery: DeliveryRow; onClose: () => void }) {
  const { delivery_id, webhook_id, event, status, body, webhook } = delivery;
  return (
    <DetailPane title={event} label={`Delivery ${delivery_id}`} onClose={onClose}>
      {delivery.next_retry && (
        <Section title="Scheduled retry">
          <div className="actions">
            <RetryNow delivery={delivery_id} />
          </div>
        </Section>
      )}
      <Section title="Redelivery">
        {status === "success" && (
          <Notice outcome="ok">Delivered. The service redelivers only failed deliveries.</Notice>
        )}
        <CallAsMember
          organization={delivery.organization_id}
          verb="Redeliver as this user"
          hint={`Makes an additional attempt through the API.${delivery.next_retry === null ? "" : " If it fails, the scheduled retry stays."}`}
          path={`/webhooks/${webhook_id}/deliveries/${delivery_id}/redeliver`}
          isOffered={status !== "success"}
        />
      </Section>
      <Section title="Attempts">
        <AttemptAxis delivery={delivery} isWide />
        <AttemptList delivery={delivery} />
      </Section>
      <Section title="Payload" end={<CopyButton isSubtle text={body} />}>
        <BodyText text={body} />
        <p className="quiet small">
          {new TextEncoder().encode(body).length} bytes, identical on every attempt. Receivers must verify the
          signature of these bytes, not of parsed JSON.
        </p>
      </Section>
      {webhook && <Signature delivery={delivery} webhook={webhook} />}
      <Section title="Details">
        <Facts
          facts={{
            Delivery: <code>{delivery_id}</code>,
            Webhook: (
              <ViewLink view="webhooks" query={{ show: "webhooks", webhook: webhook_id }}>
                {webhook?.url ?? webhook_id}
              </ViewLink>
            ),
            Attempts: delivery.attempts,
            "Last response": delivery.response_code || "none",
            "Event time": formatAbsolute(delivery.created_at),
            ...(delivery.delivered_at && { Delivered: formatAbsolute(delivery.delivered_at) }),
            ...(delivery.last_attempt && { "Last attempt": formatAbsolute(delivery.last_attempt) }),
            ...(delivery.next_retry && { "Next retry": formatAbsolute(delivery.next_retry) }),
            Timeline: (
              <ViewLink view="timeline" query={{ find: delivery_id }}>
                Attempts and their cause
              </ViewLink>
            ),
          }}
        />
      </Section>
    </DetailPane>
  );
}

function Signature({ delivery, webhook: { secret } }: { delivery: Delivery; webhook: Webhook }) {
  const { body, event, delivery_id } = delivery;
  const { data: sandbox } = useSandbox();
  const signature = useSignature(secret, body);
  const headers = [
    "Content-Type: application/json",
    `X-Service-Event: ${event}`,
    ...(signature ? [`X-Service-Signature: ${signature}`] : []),
    `X-Service-Delivery: ${delivery_id}`,
    `User-Agent: ${sandbox?.settings.service_name ?? "Service"}-Webhook/1.0`,
  ].join("\n");
  return (
    <Section
      title="Signature"
      end={<CopyButton isSubtle text={formatOpensslCommand(secret, body)} label="Copy as openssl" />}
    >
      {!canSign && (
        <Notice outcome="other">
          This browser computes signatures on localhost or HTTPS only. Use “Copy as openssl” instead.
        </Notice>
      )}
      <pre className="wire">{headers}</pre>
      <p className="quiet small">
        HMAC-SHA256 of the payload. The key is the whole secret, including <code>whsec_</code>.
      </p>
    </Section>
  );
}
