import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useSandbox } from "../../api/queries.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { absolute } from "../../parts/time.tsx";
import { AttemptAxis } from "./attempt-axis.tsx";
import { AttemptList } from "./attempt-list.tsx";
import { attemptMarks, type Delivery, spanOf, type Webhook } from "./attempts.ts";
import { Redeliver } from "./redeliver.tsx";
import { canSign, opensslCommand, useSignature } from "./signature.ts";
import { useDelays } from "./use-webhooks.ts";

/** One delivery: its attempts, what they sent, and one more. */
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
          span={spanOf(delays)}
          now={now}
          wide
        />
        <AttemptList delivery={delivery} marks={marks} secret={webhook?.secret} />
      </Section>
      <Section title="Signed bytes" end={<CopyButton subtle text={delivery.body} label="Copy" />}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long bodies are scrolled by the keyboard, too */}
        <pre className="wire body" tabIndex={0}>
          {delivery.body}
        </pre>
        <p className="quiet small">
          {new TextEncoder().encode(delivery.body).length} bytes, the same on every attempt. A receiver
          verifies these, not what it parsed.
        </p>
      </Section>
      {webhook && <Signature delivery={delivery} webhook={webhook} />}
      <Section title="Where it belongs">
        <Facts
          facts={[
            ["Delivery", <code key="id">{delivery.delivery_id}</code>],
            [
              "Webhook",
              <Link
                key="webhook"
                href={addressOf(sandbox, "webhooks", { show: "webhooks", webhook: delivery.webhook_id })}
              >
                {webhook?.url ?? delivery.webhook_id}
              </Link>,
            ],
            ["Event at", absolute(delivery.created_at)],
            [
              "In the timeline",
              <Link key="timeline" href={addressOf(sandbox, "timeline", { find: delivery.delivery_id })}>
                each attempt, and what caused it
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
          Browsers compute digests on loopback or over https alone. The command beside computes it.
        </Notice>
      )}
      <pre className="wire">{headers}</pre>
      <p className="quiet small">
        HMAC-SHA256 over the bytes above, keyed with the whole secret of the webhook, <code>whsec_</code> and
        all.
      </p>
    </Section>
  );
}
