import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { toAddress, useSandboxName } from "../../address.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { Confirm } from "../../components/dialog.tsx";
import { DetailPane, Facts, Section } from "../../components/layout.tsx";
import { Notice, Problem } from "../../components/notice.tsx";
import { CopyButton } from "../../components/text.tsx";
import { absolute, RelativeTime, useSandboxNow } from "../../components/time.tsx";
import type { Webhook } from "./attempts.ts";
import { CallAsMember } from "./call-as-member.tsx";

const SEEN = 4;

/** One webhook: state, events, secret, test event. */
export function WebhookPane({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { webhook_id, url, secret, events, description, active, created_at, last_delivery } = webhook;
  const sandbox = useSandboxName();
  const now = useSandboxNow();
  const [deleting, setDeleting] = useState(false);
  const activate = useSandboxChange((calls, active: boolean) =>
    calls.changeRecord("webhooks", webhook_id, { active }),
  );
  const remove = useSandboxChange(async (calls, _: undefined) => {
    await calls.removeRecord("webhooks", webhook_id);
    onClose();
  });
  return (
    <DetailPane
      title={url}
      label={`Webhook ${webhook_id}`}
      onClose={onClose}
      actions={
        <>
          <Link className="button" href={toAddress(sandbox, "webhooks", { webhook: webhook_id })}>
            Deliveries
          </Link>
          <CopyButton text={secret} label="Copy secret" />
          <Button className="button" isPending={activate.isPending} onPress={() => activate.mutate(!active)}>
            {active ? "Deactivate" : "Activate"}
          </Button>
          <Button className="button danger" onPress={() => setDeleting(true)}>
            Delete …
          </Button>
        </>
      }
    >
      <Problem error={activate.error} />
      {!active && (
        <Notice outcome="refused">
          Inactive: {webhook.inactive_because ?? "created inactive"}. It receives no events, and its pending
          retries were cancelled.
        </Notice>
      )}
      <Section title="Test event">
        <CallAsMember
          organization={webhook.organization_id}
          verb="Send test event"
          path={`/webhooks/${webhook_id}/test`}
        />
      </Section>
      <Section title="Webhook">
        <Facts
          facts={[
            ["Id", <code key="id">{webhook_id}</code>],
            ["Organization", webhook.organization_id],
            ["Secret", <code key="secret">{`whsec_…${secret.slice(-SEEN)}`}</code>],
            ["Events", events.join(", ")],
            ["Description", description || undefined],
            ["Created", absolute(created_at)],
            [
              "Last delivery",
              last_delivery === null ? "none" : <RelativeTime key="last" at={last_delivery} now={now} />,
            ],
          ]}
        />
      </Section>
      {deleting && (
        <Confirm
          title="Delete this webhook?"
          verb="Delete"
          pending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setDeleting(false)}
        >
          <p>Also deletes its deliveries and pending retries. To keep them, deactivate it instead.</p>
        </Confirm>
      )}
    </DetailPane>
  );
}
