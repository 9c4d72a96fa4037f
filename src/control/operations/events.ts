import { type Static, Type } from "typebox";
import { type Api, findEvent } from "../../engine/contract/api.ts";
import { type AnyEvent, buildEventData, inventData } from "../../engine/contract/event.ts";
import { ClosedObject, isJsonObject, withLibraryType } from "../../engine/contract/schema.ts";
import { findNearest } from "../../engine/contract/text.ts";
import type { EventName } from "../../engine/resources/events.ts";
import { organizations } from "../../engine/resources/organizations/schema.ts";
import { listEnqueued } from "../../engine/resources/webhooks/deliveries.ts";
import { getDefaultOrganization } from "../../engine/resources/webhooks/fixtures.ts";
import { renderDelivery } from "../../engine/resources/webhooks/rules.ts";
import { DeliveryBody, deliveries, webhookTest } from "../../engine/resources/webhooks/schema.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { Transaction } from "../../engine/state/transaction.ts";
import { waitForAttempts } from "../../engine/webhooks/queued-attempts.ts";
import { requireRoomAfter } from "../limits.ts";
import { type ControlOperation, OptionalText, operation } from "../operation.ts";
import { quoteWord, unprocessable } from "../problem.ts";

export const TriggerInput = ClosedObject(
  {
    event: withLibraryType(
      "EventName",
      Type.Unsafe<EventName>({ type: "string", description: "Its name, such as `user.created`" }),
    ),
    data: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: "object",
        description: "Fields of the event's data, which override the generated ones",
      }),
    ),
    for: OptionalText("The id of an object of the sandbox that fills the data"),
    organization: OptionalText(
      "The organization whose webhooks receive the event. By default it is the object's, or the fixture's first",
    ),
  },
  { $id: "TriggerInput", examples: [{ event: "user.created", for: "usr_dan" }] },
);
type Trigger = Static<typeof TriggerInput>;

export const TriggeredBody = ClosedObject(
  {
    deliveries: Type.Array(ClosedObject({ ...DeliveryBody.properties, webhook_id: Type.String() }), {
      description: "One for each webhook that receives it, after its first attempt",
    }),
  },
  {
    $id: "Triggered",
    examples: [
      {
        deliveries: [
          {
            delivery_id: "del_1",
            event: "user.created",
            status: "success",
            response_code: 200,
            attempts: 1,
            delivered_at: "2026-03-15T12:00:00.000Z",
            webhook_id: "wh_ops",
          },
        ],
      },
    ],
  },
);

export const EVENT_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "events.trigger",
    route: "POST /_control/sandboxes/{name}/events",
    summary: "Emit a webhook event and wait for the first attempts",
    body: { kind: "json", schema: TriggerInput },
    describeChange: ({ body: { event, for: subject } }) => ({
      title: `The event ${event} was triggered${subject === undefined ? "" : ` for ${subject}`}.`,
      subject,
    }),
    errors: ["limit-reached"],
    success: { status: 200, schema: TriggeredBody },
    async handle({ body, sandbox: { world, settings, api }, server, signal }) {
      const committed = world.transact((tx) => {
        const { event, organization_id, data } = createEvent(body, tx, { settings, api });
        tx.emit(event, organization_id, data);
        requireRoomAfter(server, world, tx);
        return tx;
      });
      const deliveryIds = listEnqueued(committed);
      // A first attempt has the id of its delivery.
      await waitForAttempts(world, deliveryIds, signal);
      const reader = world.read();
      return {
        deliveries: deliveryIds.flatMap((id) => {
          const delivery = reader.get(deliveries, id);
          // A webhook that was disabled or deleted meanwhile has no such delivery.
          return delivery ? [{ ...renderDelivery(delivery, reader), webhook_id: delivery.webhook_id }] : [];
        }),
      };
    },
  }),
];

/** @throws Problem 422 for an unknown event, object, organization or field of the data */
function createEvent(
  trigger: Trigger,
  tx: Transaction,
  { settings, api }: Pick<Sandbox, "settings" | "api">,
) {
  const event = requireEvent(trigger.event, api);
  const subject = trigger.for === undefined ? undefined : requireSubject(tx, event, trigger.for);
  const [subjectOrganization] = subject === undefined ? [] : event.about.listOrganizations(subject, tx);
  const organization_id = requireOrganization(tx, trigger.organization ?? subjectOrganization);
  const data =
    subject === undefined
      ? inventData(event, {
          world: tx,
          at: tx.now,
          random: tx.random(`events/${event.name}`),
          givenFields: { organization_id },
          settings,
        })
      : buildEventData(event, subject, tx);
  requireKnownFields(event, trigger.data ?? {});
  return { event: event.name, organization_id, data: mergeFields(data, trigger.data ?? {}) };
}

function requireEvent(name: string, api: Api): AnyEvent {
  const event = findEvent(api, name);
  if (event === webhookTest) {
    throw unprocessable(
      "event",
      name,
      "reports no change; POST /webhooks/{webhook_id}/test sends it to one webhook",
    );
  }
  if (event) return event;
  const names = api.events.flatMap((one) => (one === webhookTest ? [] : one.name));
  const hint = findNearest(name, names);
  // If no name is near, the message lists all of them.
  const allNames = hint === undefined ? `, which has ${names.join(", ")}` : "";
  throw unprocessable("event", name, `${quoteWord(name)} is not an event of the service${allNames}`, hint);
}

function requireSubject(tx: Transaction, { about }: AnyEvent, id: string): object {
  const subject = about.find(tx, id);
  if (subject !== undefined) return subject;
  const { collections } = about;
  const ids = collections.flatMap((one) => tx.all(one).page(0, 1000).map(one.getId));
  const collectionNames = collections.map(({ name }) => name).join(" or ");
  throw unprocessable(
    "for",
    id,
    `must be the id of one of the ${collectionNames} of this sandbox, not ${quoteWord(id)}`,
    findNearest(id, ids),
  );
}

function requireOrganization(tx: Transaction, id: string | undefined): string {
  const organization_id = id ?? getDefaultOrganization(tx);
  if (organization_id !== undefined && tx.get(organizations, organization_id) !== undefined)
    return organization_id;
  const ids = [...tx.all(organizations).page(0, 1000)].map((organization) => organization.id);
  throw unprocessable(
    "organization",
    organization_id,
    `must be the id of an organization of this sandbox${id === undefined ? "" : `, not ${quoteWord(id)}`}`,
    findNearest(organization_id ?? "", ids),
  );
}

function requireKnownFields({ name: event, data: fields }: AnyEvent, data: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(data)) {
    if (fields.includes(name)) continue;
    throw unprocessable(
      `data.${name}`,
      value,
      `is not a field of ${event}, whose data has ${fields.join(", ")}`,
      findNearest(name, fields),
    );
  }
}

/** Merges a field that is an object in both; replaces the others. The names were checked, so none is `__proto__`. */
function mergeFields(
  base: Record<string, unknown>,
  overrides: Record<string, unknown>,
): Record<string, unknown> {
  const result = { ...base };
  for (const [name, value] of Object.entries(overrides)) {
    const baseValue = result[name];
    result[name] = isJsonObject(baseValue) && isJsonObject(value) ? { ...baseValue, ...value } : value;
  }
  return result;
}
