import { type Static, Type } from "typebox";
import type { Api } from "../../engine/contract/api.ts";
import { ClosedObject, ListOf, StringEnum } from "../../engine/contract/schema.ts";
import { findNearest, toSentence } from "../../engine/contract/text.ts";
import { type Delivery, deliveries, webhooks } from "../../engine/resources/webhooks/schema.ts";
import type { Transaction } from "../../engine/state/transaction.ts";
import { EmailBody, listEmails } from "../../engine/webhooks/outbox.ts";
import { queueAttempt, waitForAttempts } from "../../engine/webhooks/queued-attempts.ts";
import {
  DeliveryDetail,
  ListedDelivery,
  renderListedDelivery,
  toDeliveryDetail,
} from "../delivery-detail.ts";
import { OptionalWord } from "../journal/match-entry.ts";
import { parseSince } from "../list-entries.ts";
import { type ControlOperation, OptionalFlag, operation, sandboxParams, toList } from "../operation.ts";
import { Problem, quoteWord, unknownWord, unprocessable } from "../problem.ts";

const MAX_LISTED = 10_000;
/** Maximum number of attempts that one call begins. */
const MAX_REDELIVERED = 1000;

const Status = StringEnum(["success", "failed", "pending"], {
  description: "`pending`: another retry follows; `failed`: no more retries",
});

export const DeliveryQuery = ClosedObject({
  status: Type.Optional(Status),
  event: OptionalWord("An event's name", "EventName"),
  webhook: OptionalWord("A webhook's id"),
  since: OptionalWord("An ISO 8601 date or timestamp, on the sandbox's clock"),
  limit: Type.Integer({ minimum: 1, maximum: MAX_LISTED, default: 100 }),
});

export const RedeliverInput = ClosedObject(
  {
    ids: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: MAX_REDELIVERED,
        description: "Deliveries that failed",
      }),
    ),
    all_failed: Type.Optional(
      Type.Unsafe<true>({
        const: true,
        description: "All failed deliveries, including those with a pending retry",
      }),
    ),
    again: OptionalFlag(
      "With `ids`: also redelivers successful deliveries, as if the receiver's answer was lost. They stay delivered",
    ),
    since: OptionalWord("With `all_failed`: only of events since this time"),
    webhook: OptionalWord("With `all_failed`: only of this webhook"),
  },
  { $id: "RedeliverInput", description: "`ids` or `all_failed`", examples: [{ all_failed: true }] },
);

/** @throws Problem 422 */
function listDeliveriesToRedeliver(
  tx: Transaction,
  api: Pick<Api, "events">,
  { ids, all_failed, since, webhook, again }: Static<typeof RedeliverInput>,
): Delivery[] {
  if (ids === undefined && all_failed === undefined)
    throw unprocessable("ids", null, "is needed, or else all_failed");
  if (ids !== undefined && all_failed !== undefined)
    throw unprocessable("all_failed", all_failed, "cannot be given with ids");
  if (ids === undefined && again !== undefined)
    throw unprocessable("again", again, "goes with ids, not with all_failed");
  if (ids === undefined) {
    const failed = findDeliveries(tx, api, { since, webhook }).filter(({ status }) => status === "failed");
    if (failed.length <= MAX_REDELIVERED) return failed;
    const advice = `name a time with since, or a webhook; one call redelivers at most ${MAX_REDELIVERED}`;
    throw unprocessable("all_failed", true, `means ${failed.length} deliveries: ${advice}`);
  }
  for (const [field, value] of Object.entries({ since, webhook }))
    if (value !== undefined) throw unprocessable(field, value, "goes with all_failed, not with ids");
  const chosen = ids.map((id, i) => {
    const delivery = tx.get(deliveries, id);
    if (delivery === undefined) throw unknownWord("delivery", `ids[${i}]`, id, listKnownIds(tx));
    if (delivery.status === "success" && again !== true)
      throw unprocessable(`ids[${i}]`, id, `"${id}" was delivered; \`again: true\` (--again) sends it again`);
    return delivery;
  });
  return [...new Set(chosen)];
}

type Filter = Omit<Partial<Static<typeof DeliveryQuery>>, "limit">;

/** Lists the matching deliveries, newest first. @throws Problem 422 for an unknown webhook, or an unreadable instant */
function findDeliveries(
  tx: Transaction,
  { events }: Pick<Api, "events">,
  { status, event, webhook, since }: Filter,
): Delivery[] {
  if (webhook !== undefined && tx.get(webhooks, webhook) === undefined) {
    const ids = [...tx.all(webhooks).page(0, 1000)].map(({ webhook_id }) => webhook_id);
    throw unknownWord("webhook", "webhook", webhook, ids);
  }
  const names = events.map(({ name }) => name);
  if (event !== undefined && !names.includes(event)) throw unknownWord("event", "event", event, names);
  const from = tx.toInstant(parseSince(since));
  const all = webhook === undefined ? tx.all(deliveries) : tx.index(deliveries, "newest", webhook);
  return [...all]
    .filter(
      (one) =>
        one.created_at >= from &&
        (event === undefined || one.event === event) &&
        (status === undefined || getStatus(one) === status),
    )
    .sort((a, b) => b.created_at - a.created_at);
}

function getStatus({ status, next_retry }: Delivery): Static<typeof Status> {
  return status === "failed" && next_retry !== null ? "pending" : status;
}

function unknownDelivery(id: string, tx: Transaction): Problem {
  const hint = findNearest(id, listKnownIds(tx));
  return new Problem("unknown-record", {
    detail: `${toSentence(`There is no delivery ${quoteWord(id)}`, hint)} GET /_control/sandboxes/{name}/deliveries lists them.`,
    value: id,
    hint,
  });
}

function listKnownIds(tx: Transaction): string[] {
  return [...tx.all(deliveries).page(0, 1000)].map(({ delivery_id }) => delivery_id);
}

const DeliveryParams = sandboxParams({
  id: Type.String({ description: "The delivery's id", examples: ["del_ok"] }),
});

export const DELIVERY_OPERATIONS: readonly ControlOperation[] = [
  operation({
    id: "deliveries.list",
    section: "interfaces 14",
    route: "GET /_control/sandboxes/{name}/deliveries",
    summary: "List deliveries of all webhooks, newest first, and why they failed",
    query: DeliveryQuery,
    success: { status: 200, schema: ListOf(ListedDelivery) },
    handle({ query: { limit, ...filter }, sandbox: { api, world } }) {
      world.catchUp();
      const reader = world.read();
      const matching = findDeliveries(reader, api, filter);
      return {
        items: matching.slice(0, limit).map((one) => renderListedDelivery(one, reader)),
        total: matching.length,
      };
    },
  }),
  operation({
    id: "deliveries.redeliver",
    section: "interfaces 14",
    route: "POST /_control/sandboxes/{name}/deliveries/redeliver",
    summary: "Attempt deliveries again, and wait until the attempts have ended",
    description:
      "Sends the same delivery id and the same bytes. Success cancels the pending retry; failure leaves it.",
    body: { kind: "json", schema: RedeliverInput },
    describeChange: (_call, answer) => {
      const { total = 0 } = (answer ?? {}) as { total?: number };
      const subject = total === 1 ? "A delivery was" : `${total || "Some"} deliveries were`;
      return { title: `${subject} redelivered.` };
    },
    success: { status: 200, schema: ListOf(ListedDelivery) },
    async handle({ body, sandbox: { api, world }, signal }) {
      const { chosen, attempts } = world.transact((tx) => {
        const chosen = listDeliveriesToRedeliver(tx, api, body);
        const attempts = chosen.map(({ delivery_id, webhook_id }) => {
          const id = tx.createId("redelivery_");
          const again = body.again === true ? { again: true } : {};
          queueAttempt(tx, { id, kind: "redelivery", webhook_id, delivery_id, ...again });
          return id;
        });
        return { chosen, attempts };
      });
      await waitForAttempts(world, attempts, signal);
      const reader = world.read();
      const items = chosen.flatMap(({ delivery_id }) => {
        const delivery = reader.get(deliveries, delivery_id);
        return delivery === undefined ? [] : [renderListedDelivery(delivery, reader)];
      });
      return toList(items);
    },
  }),
  operation({
    id: "deliveries.show",
    section: "interfaces 14",
    route: "GET /_control/sandboxes/{name}/deliveries/{id}",
    summary: "Show a delivery with the bytes of each attempt",
    params: DeliveryParams,
    errors: ["unknown-record"],
    success: { status: 200, schema: DeliveryDetail },
    handle({ params: { id }, sandbox }) {
      sandbox.world.catchUp();
      const reader = sandbox.world.read();
      const delivery = reader.get(deliveries, id);
      if (delivery === undefined) throw unknownDelivery(id, reader);
      return toDeliveryDetail(delivery, sandbox, reader);
    },
  }),
  operation({
    id: "outbox.list",
    route: "GET /_control/sandboxes/{name}/outbox",
    summary: "List e-mails that the service would have sent, newest first",
    success: { status: 200, schema: ListOf(EmailBody) },
    handle({ sandbox: { world } }) {
      world.catchUp();
      return toList(listEmails(world.read()));
    },
  }),
];
