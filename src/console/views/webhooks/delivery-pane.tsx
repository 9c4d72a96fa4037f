import { Link } from "wouter";
import { toAddress, useSandboxName } from "../../address.ts";
import { useSandbox } from "../../api/queries.ts";
import { DetailPane, Facts, Section } from "../../components/layout.tsx";
import { Notice } from "../../components/notice.tsx";
import { CopyButton } from "../../components/text.tsx";
import { absolute, useSandboxNow } from "../../components/time.tsx";
import { AttemptAxis } from "./attempt-axis.tsx";
import { AttemptList } from "./attempt-list.tsx";
import { attemptMarks, type Delivery, totalSpan, type Webhook } from "./attempts.ts";
import { Redeliver } from "./call-as-member.tsx";
import { canSign, opensslCommand, useDelays, useSignature } from "./use-webhooks.ts";

/** One delivery: attempts, payload, signature, redelivery. */
export function DeliveryPane({
  delivery,
  webhook,
  onClose,
}: {
  delivery: Delivery;
  webhook: Webhook | undefined;
  onClose: () => void;
}) {
  const now = useSandboxNow();
  const delays = useDelays();
  const sandbox = useSandboxName();
  const marks = attemptMarks(delivery, delays);
  return (
    <DetailPane title={delivery.event} label={`Delivery ${delivery.delivery_id}`} onClose={onClose}>
      <Redeliver delivery={delivery} />
      <Section title="Attempts">
        <AttemptAxis
          marks={marks}
          from={Date.parse(delivery.created_at)}
          span={totalSpan(delays)}
          now={now}
          wide
        />
        <AttemptList delivery={delivery} marks={marks} secret={webhook?.secret} />
      </Section>
      <Section title="Payload" end={<CopyButton subtle text={delivery.body} label="Copy" />}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can scroll a long body */}
        <pre className="wire body" tabIndex={0}>
          {delivery.body}
        </pre>
        <p className="quiet small">
          {new TextEncoder().encode(delivery.body).length} bytes, identical on every attempt. Receivers must
          verify the signature of these bytes, not of parsed JSON.
        </p>
      </Section>
      {webhook && <Signature delivery={delivery} webhook={webhook} />}
      <Section title="Details">
        <Facts
          facts={[
            ["Delivery", <code key="id">{delivery.delivery_id}</code>],
            [
              "Webhook",
              <Link
                key="webhook"
                href={toAddress(sandbox, "webhooks", { show: "webhooks", webhook: delivery.webhook_id })}
              >
                {webhook?.url ?? delivery.webhook_id}
              </Link>,
            ],
            ["Event time", absolute(delivery.created_at)],
            [
              "Timeline",
              <Link key="timeline" href={toAddress(sandbox, "timeline", { find: delivery.delivery_id })}>
                Attempts and their cause
              </Link>,
            ],
          ]}
        />
      </Section>
    </DetailPane>
  );
}

function Signature({
  delivery: { body, event, delivery_id },
  webhook,
}: {
  delivery: Delivery;
  webhook: Webhook;
}) {
  const { data: sandbox } = useSandbox();
  const signature = useSignature(webhook.secret, body);
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
      end={<CopyButton subtle text={() => opensslCommand(webhook.secret, body)} label="Copy as openssl" />}
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
