import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Notice, Problem } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { absolute, RelativeTime } from "../../parts/time.tsx";
import { AsMember } from "./as-member.tsx";
import type { Webhook } from "./attempts.ts";

const SEEN = 4;

/** One webhook: whether it hears of anything, of what, and with which secret. */
export function HookPane({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
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
          <Link className="button" href={addressOf(sandbox, "webhooks", { webhook: webhook_id })}>
            Its deliveries
          </Link>
          <CopyButton text={secret} label="Copy the secret" />
          <Button className="button" isPending={activate.isPending} onPress={() => activate.mutate(!active)}>
            {active ? "Make it inactive" : "Make it active"}
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
          It is inactive and hears of nothing: {webhook.inactive_because ?? "it was created so"}. Its pending
          retries were called off.
        </Notice>
      )}
      <Section title="A test event">
        <AsMember
          organization={webhook.organization_id}
          verb="Send it"
          path={`/webhooks/${webhook_id}/test`}
        />
      </Section>
      <Section title="Webhook">
        <Facts
          facts={[
            ["Id", <code key="id">{webhook_id}</code>],
            ["Of", webhook.organization_id],
            ["Secret", <code key="secret">{`whsec_…${secret.slice(-SEEN)}`}</code>],
            ["Hears of", events.join(", ")],
            ["Description", description || undefined],
            ["Made", absolute(created_at)],
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
          <p>Its deliveries and pending retries go with it. To keep them, make it inactive instead.</p>
        </Confirm>
      )}
    </DetailPane>
  );
}
