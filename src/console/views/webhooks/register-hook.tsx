import { useMemo, useState } from "react";
import { useParameters } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { StateRecord } from "../../api/types.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { ChoiceField, Field, Form } from "../../parts/form.tsx";
import { MarkField } from "../../parts/mark-field.tsx";
import { useEvents } from "./events.ts";

/** A webhook of any organization; `to` in the address is the URL to begin with. */
export function RegisterHook({ onClose }: { onClose: () => void }) {
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
    <DetailPane title="Register a webhook" label="Register a webhook" onClose={onClose}>
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
          label="Of"
          name="organization_id"
          value={of ?? ""}
          onChange={setOrganization}
          choices={known?.map(({ id, name }) => ({ id, title: name, detail: id }))}
        />
        <MarkField
          label="Hears of"
          listLabel="Events"
          find="Find an event"
          choices={choices}
          chosen={chosen}
          onChange={setChosen}
        />
        {chosen.size === 0 && <p className="quiet small">None is marked: it will hear of all of them.</p>}
      </Form>
    </DetailPane>
  );
}
