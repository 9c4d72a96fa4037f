import { useCallback, useMemo, useState } from "react";
import { Link } from "wouter";
import { addressOf, useParameters, useSandboxName } from "../../address.ts";
import { type FormField, formFields, valueIn } from "../../api/form-fields.ts";
import { dataOf } from "../../api/open-api.ts";
import { useOpenApi, useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { notJson } from "../../api/typed-json.ts";
import type { EventName, Triggered } from "../../api/types.ts";
import { ChoiceField, Field, Form } from "../../parts/form.tsx";
import { Badge } from "../../parts/mark.tsx";
import { Notice } from "../../parts/notice.tsx";
import { TypedField } from "../../parts/typed-field.tsx";
import { useEvents } from "./events.ts";

const ANY = "";

/** An event by choice, with its data as a form: what stays empty is filled by an object, or by the seed. */
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
    () => (api && event ? formFields(dataOf(event.post), api.components) : []),
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
        It takes the way of a real change: each active webhook of the organization that hears of it gets a
        delivery, and retries follow.
      </p>
      <Form
        submit="Trigger it"
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
            label="For"
            name="for"
            value={subject}
            onChange={setSubject}
            placeholder={example}
            hint="The id of an object that fills the data. Left empty, the seed does."
          />
          <ChoiceField
            label="Heard by the webhooks of"
            name="organization"
            value={organization}
            onChange={setOrganization}
            choices={[
              { id: ANY, title: "The object’s organization", detail: "or the first" },
              ...(organizations.data?.items ?? []).map(({ id, name }) => ({ id, title: name, detail: id })),
            ]}
          />
        </div>
        <fieldset className="trigger-data">
          <legend>Data, over what fills it</legend>
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

/** The id of a record that an event can tell of: its data begin with it, such as with `thread_id`. */
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

/** What was typed, as values. @throws ControlError at the field that is no JSON */
function typedData(fields: readonly FormField[], texts: Readonly<Record<string, string>>) {
  const data: Record<string, unknown> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    if (text.trim() === "") continue;
    try {
      data[field.name] = valueIn(text, field);
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
        No active webhook of that organization hears of {event}, so nothing was sent.{" "}
        <Link href={addressOf(sandbox, "webhooks", { show: "webhooks", register: "new" })}>
          Register one.
        </Link>
      </Notice>
    );
  }
  return (
    <section aria-label="What was sent">
      <ul className="sent">
        {deliveries.map(({ delivery_id, webhook_id, status, response_code }) => (
          <li key={delivery_id}>
            <Badge outcome={status === "success" ? "ok" : "refused"}>
              {response_code === 0 ? "no answer" : `answered ${response_code}`}
            </Badge>
            <Link href={addressOf(sandbox, "webhooks", { delivery: delivery_id })}>{webhook_id}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
