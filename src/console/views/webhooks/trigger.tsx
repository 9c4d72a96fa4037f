import { useMemo } from "react";
import type { EventName, Triggered } from "../../../../types/control-api.ts";
import { getOwn } from "../../../engine/maps.ts";
import { useParameters } from "../../address.ts";
import {
  type Fields,
  type FormField,
  listFormFields,
  omitEmptyInputs,
  parseValue,
} from "../../api/form-fields.ts";
import { getDataSchema } from "../../api/open-api.ts";
import {
  useCollections,
  useOpenApi,
  useOrganizations,
  useSandboxChange,
  useSandboxQuery,
} from "../../api/queries.ts";
import { ChoiceField, Field, Form, useInputs } from "../../components/form.tsx";
import { revealElement, ViewLink } from "../../components/layout.tsx";
import { Badge, Notice } from "../../components/status.tsx";
import { TypedField } from "../../components/typed-field.tsx";
import type { Webhook } from "./attempts.ts";
import { useEventChoices, useWebhooks } from "./use-webhooks.ts";

/** Triggers an event. Empty data fields come from a record, or are generated from the seed. */
export function Trigger() {
  const { get, set } = useParameters();
  const { data: api, error: apiError } = useOpenApi();
  const events = useEventChoices();
  const name = get("event") ?? events?.[0]?.id ?? "";
  const { choices: organizations = [] } = useOrganizations();
  const fields = useMemo(() => {
    const event = api && getOwn(api.webhooks, name);
    return api && event ? listFormFields(getDataSchema(event.post), api.components) : [];
  }, [api, name]);
  const example = useExampleId(fields[0]?.name);
  const { inputs, field } = useInputs({ for: "", organization: "" });
  const { inputs: texts, onType } = useInputs<string>({});
  const trigger = useSandboxChange(
    async (calls) => {
      const data = parseTexts(fields, texts);
      return calls.trigger(name as EventName, {
        ...omitEmptyInputs(inputs),
        ...(Object.keys(data).length > 0 && { data }),
      });
    },
    {
      confirmation: ({ deliveries: { length } }) =>
        length === 0 ? undefined : `Triggered ${name}. Undo cannot unsend it.`,
    },
  );
  const { webhooks = [] } = useWebhooks();
  const inactive = webhooks.filter(
    ({ active, events, organization_id }) =>
      !active &&
      (events as readonly string[]).includes(name) &&
      ["", organization_id].includes(inputs.organization),
  );
  return (
    <div className="page stack grow measure trigger">
      <p className="quiet">
        The event is sent exactly like a real one: to each active webhook of the organization that subscribes
        to it, with retries.
      </p>
      <Form
        submit="Trigger event"
        change={{ ...trigger, error: trigger.error ?? apiError }}
        isWaiting={events === undefined}
      >
        <div className="field-grid">
          <ChoiceField
            label="Event"
            name="event"
            value={name}
            onChange={(event) => {
              set({ event }, { replace: true });
              trigger.reset();
            }}
            choices={events}
          />
          <Field
            label="Record"
            {...field("for")}
            placeholder={example}
            hint="Id of the record that the event is about. Leave empty to generate data."
          />
          <ChoiceField
            label="Organization"
            {...field("organization")}
            choices={[
              { id: "", title: "The record’s organization", detail: "or the first one" },
              ...organizations,
            ]}
          />
        </div>
        <fieldset className="field-grid">
          <legend>Override data</legend>
          {fields.map((dataField) => (
            <TypedField
              key={`${name} ${dataField.name}`}
              field={dataField}
              prefix="data."
              isOptional
              value={getOwn(texts, dataField.name) ?? ""}
              onType={onType}
            />
          ))}
        </fieldset>
      </Form>
      {trigger.data && !trigger.isPending && (
        <div ref={revealElement}>
          <TriggeredDeliveries event={name} inactive={inactive} triggered={trigger.data} />
        </div>
      )}
    </div>
  );
}

/** Id of a record of the collection that the first field of the event's data names: `thread_id` names `threads`. */
function useExampleId(firstField: string | undefined): string {
  const { data: collections } = useCollections();
  const collection = collections?.items.find(({ name }) => name === firstField?.replace(/_id$/, "s"));
  const { data } = useSandboxQuery(
    ["example", collection?.name],
    (calls) => calls.records(collection!.name, { limit: 1 }),
    { enabled: collection !== undefined },
  );
  if (collection === undefined || data === undefined) return "";
  const [first] = data.items as unknown as readonly Fields[];
  return String(first?.[collection.id_field] ?? `${collection.prefix}…`);
}

/** Parses the fields that are not empty. @throws ControlError for invalid JSON */
function parseTexts(fields: readonly FormField[], texts: Readonly<Record<string, string>>): Fields {
  const filledFields = fields.filter(({ name }) => getOwn(texts, name)?.trim());
  return Object.fromEntries(
    filledFields.map((field) => [field.name, parseValue(texts[field.name]!, field, "data.")]),
  );
}

function TriggeredDeliveries(props: { event: string; inactive: readonly Webhook[]; triggered: Triggered }) {
  const { event, inactive, triggered } = props;
  const { deliveries } = triggered;
  if (deliveries.length === 0) {
    return (
      <Notice outcome="refused">
        Not sent: no active webhook of the organization subscribes to {event}.{" "}
        <ViewLink view="webhooks" query={{ show: "webhooks", register: "new" }}>
          Register one
        </ViewLink>
        {inactive.map(({ webhook_id, inactive_because: reason }) => (
          <p key={webhook_id}>
            <ViewLink view="webhooks" query={{ show: "webhooks", webhook: webhook_id }}>
              {webhook_id}
            </ViewLink>{" "}
            would receive it, but is inactive{reason && `: ${reason}`}. Activate the webhook and trigger the
            event again.
          </p>
        ))}
      </Notice>
    );
  }
  return (
    <section aria-label="Deliveries">
      <ul>
        {deliveries.map(({ delivery_id, webhook_id, status, response_code }) => (
          <li key={delivery_id} className="flow">
            <Badge outcome={status === "success" ? "ok" : "refused"}>{response_code || "no response"}</Badge>
            <ViewLink view="webhooks" query={{ delivery: delivery_id }}>
              {webhook_id}
            </ViewLink>
          </li>
        ))}
      </ul>
    </section>
  );
}
