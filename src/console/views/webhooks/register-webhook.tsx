import { useMemo, useState } from "react";
import type { StateRecord } from "../../../../types/control-api.ts";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ChoiceField, Field, Form } from "../../components/form.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { MultiSelect } from "../../components/multi-select.tsx";
import { useEvents } from "./use-webhooks.ts";

/** Registers a webhook of any organization. `to` in the address prefills the URL. */
export function RegisterWebhook({ onClose }: { onClose: () => void }) {
  const { get, set } = useParameters();
  const events = useEvents();
  const choices = useMemo(
    () => events?.map(({ name, post }) => ({ id: name, title: name, detail: post.summary })),
    [events],
  );
  const organizations = useSandboxQuery(["records", "organizations"], (calls) =>
    calls.records("organizations"),
  );
  const [url, setUrl] = useState(get("to") ?? "");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [organization, setOrganization] = useState<string>();
  const known = organizations.data?.items;
  const of = organization ?? known?.[0]?.id;
  const register = useSandboxChange((calls, _: undefined) =>
    calls.addRecord("webhooks", {
      url: url.trim(),
      events: (chosen.size > 0
        ? [...chosen]
        : events?.map(({ name }) => name)) as StateRecord<"webhooks">["events"],
      ...(of !== undefined && { organization_id: of }),
    }),
  );
  return (
    <DetailPane title="Register webhook" label="Register webhook" onClose={onClose}>
      <Form
        submit="Register"
        pending={register.isPending}
        waiting={events === undefined || known === undefined}
        error={register.error}
        onSubmit={() =>
          register.mutate(undefined, {
            onSuccess: ({ webhook_id }) => set({ webhook: webhook_id, register: undefined, to: undefined }),
          })
        }
      >
        <Field
          label="URL"
          name="url"
          value={url}
          onChange={setUrl}
          placeholder="http://127.0.0.1:3000/webhook"
          required
        />
        <ChoiceField
          label="Organization"
          name="organization_id"
          value={of ?? ""}
          onChange={setOrganization}
          choices={known?.map(({ id, name }) => ({ id, title: name, detail: id }))}
        />
        <MultiSelect
          label="Events"
          listLabel="Events"
          find="Filter events"
          choices={choices}
          chosen={chosen}
          onChange={setChosen}
        />
        {chosen.size === 0 && <p className="quiet small">None selected: receives all events.</p>}
      </Form>
    </DetailPane>
  );
}
