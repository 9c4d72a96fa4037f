import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useSandbox } from "../../api/queries.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Badge, type Outcome } from "../../parts/mark.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { absolute, RelativeTime } from "../../parts/time.tsx";
import { AttemptAxis } from "./attempt-axis.tsx";
import {
  type AttemptMark,
  type AttemptState,
  attemptMarks,
  type Delivery,
  spanOf,
  type Webhook,
} from "./attempts.ts";
import { Redeliver } from "./redeliver.tsx";
import { canSign, opensslCommand, sign } from "./signature.ts";
import { useDelays } from "./use-webhooks.ts";

const OUTCOMES: Readonly<Record<AttemptState, Outcome>> = {
  delivered: "ok",
  failed: "failed",
  due: "waiting",
  expected: "other",
  cancelled: "off",
};
const KINDS = { first: "first", retry: "retry", redelivery: "redelivery" } as const;

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
        <ol className="attempt-list" aria-label="Attempts">
          {marks.map((mark, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may begin at one instant
            <li key={index} className="attempt-line">
              <Badge outcome={OUTCOMES[mark.state]}>{mark.state}</Badge>
              <span>{attemptWords(mark)}</span>
              <RelativeTime at={new Date(mark.at).toISOString()} now={now} />
            </li>
          ))}
        </ol>
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

/** What came of one that was made; what one that was not waits for. */
function attemptWords({ state, made }: AttemptMark): string {
  if (made) {
    const answer = made.error ?? `answered ${made.response_code}`;
    const fault = made.fault === undefined ? "" : `, by the fault ${made.fault}`;
    return `${KINDS[made.kind]}: ${answer} in ${made.duration_ms} ms${fault}`;
  }
  if (state === "due") return "the retry that comes next";
  if (state === "expected") return "if the one before fails too";
  if (state === "cancelled") return "called off: the webhook was gone or inactive";
  return "told by the fixture, without details";
}

function Signature({
  delivery: { body, event, delivery_id },
  webhook,
}: {
  delivery: Delivery;
  webhook: Webhook;
}) {
  const { data: sandbox } = useSandbox();
  const { data: signature } = useQuery({
    queryKey: ["signature", webhook.secret, body],
    queryFn: () => sign(webhook.secret, body),
    enabled: canSign,
    staleTime: Number.POSITIVE_INFINITY,
  });
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
