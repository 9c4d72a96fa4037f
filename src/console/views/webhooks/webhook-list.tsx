import { useState } from "react";
import type { StateRecord } from "../../../../types/control-api.ts";
import { useParameters, useSelection } from "../../address.ts";
import { useOrganizations, useSandboxChange } from "../../api/queries.ts";
import { ActionButton, ConfirmButton } from "../../components/button.tsx";
import { ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { AddRecordLink, DetailPane, Facts, ListView, Section, ViewLink } from "../../components/layout.tsx";
import { Badge, EmptyState, Notice, Problem } from "../../components/status.tsx";
import { ClippedPath, CopyButton } from "../../components/text.tsx";
import { formatAbsolute, RelativeTime } from "../../components/time.tsx";
import { MultiSelect } from "../../components/typed-field.tsx";
import type { Column } from "../../components/virtual-table.tsx";
import type { Webhook } from "./attempts.ts";
import { CallAsMember } from "./call-as-member.tsx";
import { useEventChoices, useWebhooks } from "./use-webhooks.ts";

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: "state",
    title: "State",
    value: ({ active }) => Number(active),
    renderCell: ({ active }) => (
      <Badge outcome={active ? "ok" : "other"}>{active ? "active" : "inactive"}</Badge>
    ),
    width: "6rem",
  },
  {
    id: "url",
    title: "URL",
    renderCell: ({ url }) => <ClippedPath>{url}</ClippedPath>,
    width: "minmax(0, 1.6fr)",
  },
  {
    id: "events",
    title: "Events",
    value: ({ events }) => events.join(", "),
    minTableWidth: "medium",
  },
  { id: "organization_id", title: "Organization", width: "7rem", minTableWidth: "wide" },
  {
    id: "last",
    title: "Last delivery",
    value: ({ last_delivery }) => last_delivery ?? "",
    renderCell: ({ last_delivery: at }) =>
      at ? <RelativeTime at={at} /> : <span className="quiet">none</span>,
    width: "7rem",
    minTableWidth: "medium",
  },
];

export function WebhookList() {
  const { selected, isCreating, select, close } = useSelection("webhook", "register");
  const { set } = useParameters();
  const create = () => set({ webhook: undefined, register: "new", to: undefined });
  const { webhooks, error } = useWebhooks();
  return (
    <ListView
      head={
        <div className="tools">
          <p className="quiet">
            Each webhook has its own secret. Failed deliveries are retried; a 410 response deactivates the
            webhook.
          </p>
          <ActionButton label="Register webhook" look="primary" onPress={create} />
        </div>
      }
      error={error}
      notFoundKind="webhook"
      label="Webhooks"
      columns={COLUMNS}
      rows={webhooks}
      getKey={({ webhook_id }) => webhook_id}
      selected={selected}
      onSelect={({ webhook_id }) => select(webhook_id)}
      empty={
        <EmptyState title="No webhooks yet">
          Register one here or by <code>POST /webhooks</code>. To try one without code, create a receiver.
        </EmptyState>
      }
      pane={(webhook) => <WebhookPane webhook={webhook} onClose={close} />}
      otherPane={isCreating && <RegisterWebhook onClose={close} />}
    />
  );
}

const SHOWN_CHARACTERS = 4;

function WebhookPane({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { webhook_id, url, secret, events, description, active, created_at, last_delivery } = webhook;
  const activate = useSandboxChange(
    (calls) => calls.changeRecord("webhooks", webhook_id, { active: !active }),
    { confirmation: `${active ? "Deactivated" : "Activated"} ${url}.` },
  );
  const remove = useSandboxChange((calls) => calls.removeRecord("webhooks", webhook_id).then(onClose), {
    confirmation: `Deleted webhook ${webhook_id}.`,
  });
  return (
    <DetailPane
      title={url}
      label={`Webhook ${webhook_id}`}
      onClose={onClose}
      actions={
        <>
          <ViewLink className="button" view="webhooks" query={{ webhook: webhook_id }}>
            Deliveries
          </ViewLink>
          <CopyButton text={secret} label="Copy secret" />
          <ActionButton label={active ? "Deactivate" : "Activate"} change={activate} />
          <ConfirmButton title="Delete this webhook?" verb="Delete" change={remove}>
            Also deletes its deliveries and pending retries. Deactivate it instead to keep the deliveries; its
            pending retries are then cancelled.
          </ConfirmButton>
        </>
      }
    >
      <Problem error={activate.error} />
      {!active && (
        <Notice outcome="refused">
          This webhook is inactive{webhook.inactive_because && `: ${webhook.inactive_because}`}. It receives
          no events and no retries. Activate it to send events.
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
          facts={{
            Id: <code>{webhook_id}</code>,
            Organization: webhook.organization_id,
            Secret: <code>{`whsec_…${secret.slice(-SHOWN_CHARACTERS)}`}</code>,
            Events: events.join(", "),
            Description: description || undefined,
            Created: formatAbsolute(created_at),
            "Last delivery": last_delivery === null ? "none" : <RelativeTime at={last_delivery} />,
          }}
        />
      </Section>
    </DetailPane>
  );
}

/** Registers a webhook of any organization. `to` in the address prefills the URL. */
function RegisterWebhook({ onClose }: { onClose: () => void }) {
  const { get, set } = useParameters();
  const events = useEventChoices();
  const { choices: organizations } = useOrganizations();
  const { inputs, field } = useInputs({ url: get("to") ?? "", organization_id: "" });
  const [selectedEvents, setSelectedEvents] = useState<ReadonlySet<string>>(new Set());
  const organization_id = inputs.organization_id || organizations?.[0]?.id;
  const register = useSandboxChange(
    (calls) => {
      const subscribed = selectedEvents.size > 0 ? [...selectedEvents] : events?.map(({ id }) => id);
      return calls.addRecord("webhooks", {
        url: inputs.url.trim(),
        events: subscribed as StateRecord<"webhooks">["events"],
        ...(organization_id !== undefined && { organization_id }),
      });
    },
    { confirmation: ({ url }) => `Registered ${url}.` },
  );
  return (
    <DetailPane title="Register webhook" label="Register webhook" onClose={onClose}>
      <Form
        submit="Register"
        change={register}
        onSuccess={({ webhook_id }) => set({ webhook: webhook_id, register: undefined, to: undefined })}
        isWaiting={events === undefined || organizations === undefined}
      >
        <Field label="URL" {...field("url")} placeholder="http://127.0.0.1:3000/webhook" required />
        <ChoiceField
          label="Organization"
          {...field("organization_id")}
          value={organization_id ?? ""}
          choices={organizations}
        />
        {organizations?.length === 0 && (
          <Notice outcome="refused" action={<AddRecordLink collection="organizations" />}>
            A webhook belongs to an organization, and this sandbox has none.
          </Notice>
        )}
        <MultiSelect
          label="Events"
          findPrompt="Filter events"
          choices={events}
          chosen={selectedEvents}
          onChange={setSelectedEvents}
        />
        {selectedEvents.size === 0 && <p className="quiet small">None selected: receives all events.</p>}
      </Form>
    </DetailPane>
  );
}
