import { useCallback, useMemo, useState } from "react";
import { Link } from "wouter";
import type { EventName, Triggered } from "../../../../types/control-api.ts";
import { toAddress, useParameters, useSandboxName } from "../../address.ts";
import { type FormField, formFields, notJson, parseValue } from "../../api/form-fields.ts";
import { eventData } from "../../api/open-api.ts";
import { useOpenApi, useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ChoiceField, Field, Form } from "../../components/form.tsx";
import { Badge } from "../../components/mark.tsx";
import { Notice } from "../../components/notice.tsx";
import { TypedField } from "../../components/typed-field.tsx";
import { useEvents } from "./use-webhooks.ts";

const ANY = "";

/** Triggers an event. Empty data fields come from a record, or are generated from the seed. */
export function Trigger() {
  const { get, set } = useParameters();
  const { data: api, error: unread } = useOpenApi();
  const events = useEvents();
  const name = get("event") ?? events?.[0]?.name ?? "";
  const event = events?.find((one) => one.name === name);
  const organizations = useSandboxQuery(["records", "organizations"], (calls) =>
    calls.records("organizations"),
  );
  const fields = useMemo(
    () => (api && event ? formFields(eventData(event.post), api.components) : []),
    [api, event],
  );
  const example = useExample(fields[0]?.name);
  const [subject, setSubject] = useState("");
  const [organization, setOrganization] = useState(ANY);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const type = useCallback(
    ({ name }: FormField, text: string) => setTexts((before) => ({ ...before, [name]: text })),
    [],
  );
  const trigger = useSandboxChange(async (calls, _: undefined) => {
    const data = typedData(fields, texts);
    return calls.trigger(name as EventName, {
      ...(subject.trim() && { for: subject.trim() }),
      ...(organization && { organization }),
      ...(Object.keys(data).length > 0 && { data }),
    });
  });
  return (
    <div className="page trigger">
      <p className="quiet">
        Sent exactly like a real event: to each active webhook of the organization that subscribes to it, with
        retries.
      </p>
      <Form
        submit="Trigger event"
        pending={trigger.isPending}
        waiting={events === undefined}
        error={trigger.error ?? unread}
        onSubmit={() => trigger.mutate(undefined)}
      >
        <div className="trigger-pair">
          <ChoiceField
            label="Event"
            name="event"
            value={name}
            onChange={(event) => {
              set({ event }, { replace: true });
              trigger.reset();
            }}
            choices={events?.map(({ name, post }) => ({ id: name, title: name, detail: post.summary }))}
          />
          <Field
            label="Record"
            name="for"
            value={subject}
            onChange={setSubject}
            placeholder={example}
            hint="Id of the record that the event is about. Leave empty to generate data."
          />
          <ChoiceField
            label="Organization"
            name="organization"
            value={organization}
            onChange={setOrganization}
            choices={[
              { id: ANY, title: "The record’s organization", detail: "or the first one" },
              ...(organizations.data?.items ?? []).map(({ id, name }) => ({ id, title: name, detail: id })),
            ]}
          />
        </div>
        <fieldset className="trigger-data">
          <legend>Override data</legend>
          {fields.map((field) => (
            <TypedField
              key={`${name} ${field.name}`}
              field={field}
              within="data."
              optional
              value={texts[field.name] ?? ""}
              onType={type}
            />
          ))}
        </fieldset>
      </Form>
      {trigger.data && !trigger.isPending && <Outcome event={name} triggered={trigger.data} />}
    </div>
  );
}

/** Id of a record for the event, by the first field of its data, such as `thread_id`. */
function useExample(field: string | undefined): string {
  const { data: collections } = useSandboxQuery(["collections"], (calls) => calls.collections());
  const of = collections?.items.find(({ name }) => name === field?.replace(/_id$/, "s"));
  const { data: some } = useSandboxQuery(
    ["example", of?.name],
    (calls) => calls.records(of!.name, { limit: 1 }),
    { enabled: of !== undefined },
  );
  const [first] = (some?.items ?? []) as unknown as readonly Readonly<Record<string, unknown>>[];
  return of === undefined || some === undefined ? "" : String(first?.[of.id_field] ?? `${of.prefix}…`);
}

/** Parses the typed fields. @throws ControlError for invalid JSON */
function typedData(fields: readonly FormField[], texts: Readonly<Record<string, string>>) {
  const data: Record<string, unknown> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    if (text.trim() === "") continue;
    try {
      data[field.name] = parseValue(text, field);
    } catch {
      throw notJson(`data.${field.name}`, field.name);
    }
  }
  return data;
}

function Outcome({ event, triggered: { deliveries } }: { event: string; triggered: Triggered }) {
  const sandbox = useSandboxName();
  if (deliveries.length === 0) {
    return (
      <Notice outcome="refused">
        Not sent: no active webhook of the organization subscribes to {event}.{" "}
        <Link href={toAddress(sandbox, "webhooks", { show: "webhooks", register: "new" })}>Register one</Link>
      </Notice>
    );
  }
  return (
    <section aria-label="Deliveries">
      <ul className="sent">
        {deliveries.map(({ delivery_id, webhook_id, status, response_code }) => (
          <li key={delivery_id}>
            <Badge outcome={status === "success" ? "ok" : "refused"}>
              {response_code === 0 ? "no response" : response_code}
            </Badge>
            <Link href={toAddress(sandbox, "webhooks", { delivery: delivery_id })}>{webhook_id}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
