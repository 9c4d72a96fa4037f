import Type from "typebox";
import { ListOf } from "../../engine/contract/schema.ts";
import { deliveries } from "../../engine/resources/webhooks/schema.ts";
import { attemptsEnded, queueAttempt } from "../../engine/webhooks/outgoing.ts";
import {
  chosenIn,
  DeliveryQuery,
  matching,
  RedeliverInput,
  unknownDelivery,
} from "../deliveries/chosen-deliveries.ts";
import {
  DeliveryDetail,
  ListedDelivery,
  presentListed,
  toDeliveryDetail,
} from "../deliveries/shown-delivery.ts";
import { below, type ControlOperation, OfSandbox, operation, S } from "../operation.ts";

const listDeliveries = operation({
  id: "deliveries.list",
  section: "interfaces 14",
  method: "GET",
  path: `${S}/deliveries`,
  summary: "List deliveries of all webhooks, newest first, and why each failed",
  params: OfSandbox,
  query: DeliveryQuery,
  errors: [],
  success: { status: 200, schema: ListOf(ListedDelivery) },
  handle({ query: { limit, ...filter }, sandbox: { world } }) {
    world.catchUp();
    const present = world.read();
    const found = matching(present, filter);
    return { items: found.slice(0, limit).map((one) => presentListed(one, present)), total: found.length };
  },
});

const OfDelivery = below({ id: Type.String({ description: "The delivery's id", examples: ["del_ok"] }) });

const showDelivery = operation({
  id: "deliveries.show",
  section: "interfaces 14",
  method: "GET",
  path: `${S}/deliveries/{id}`,
  summary: "Show a delivery with the request and response of each attempt",
  params: OfDelivery,
  errors: ["unknown-record"],
  success: { status: 200, schema: DeliveryDetail },
  handle({ params: { id }, sandbox }) {
    sandbox.world.catchUp();
    const present = sandbox.world.read();
    const delivery = present.get(deliveries, id);
    if (delivery === undefined) throw unknownDelivery(id, present);
    return toDeliveryDetail(delivery, sandbox, present);
  },
});

const redeliver = operation({
  id: "deliveries.redeliver",
  section: "interfaces 14",
  method: "POST",
  path: `${S}/deliveries/redeliver`,
  summary: "Make one attempt of failed deliveries at once, and wait for them",
  description:
    "Sends the same delivery id and the same bytes. Success cancels the pending retry; failure leaves it.",
  params: OfSandbox,
  body: { kind: "json", schema: RedeliverInput },
  describes: {
    as: (_call, answer) => {
      const { total } = answer as { total: number };
      return { title: `${total === 1 ? "A delivery was" : `${total} deliveries were`} redelivered.` };
    },
  },
  errors: [],
  success: { status: 200, schema: ListOf(ListedDelivery) },
  async handle({ body, sandbox: { world }, signal }) {
    const { chosen, attempts } = world.transact((tx) => {
      const chosen = chosenIn(tx, body);
      const attempts = chosen.map(({ delivery_id, webhook_id }) => {
        const id = tx.newId("redelivery_");
        const again = body.again === true ? { again: true } : {};
        queueAttempt(tx, { id, kind: "redelivery", webhook_id, delivery_id, ...again });
        return id;
      });
      return { chosen, attempts };
    });
    await attemptsEnded(world, attempts, signal);
    const present = world.read();
    const items = chosen.flatMap(({ delivery_id }) => {
      const delivery = present.get(deliveries, delivery_id);
      return delivery === undefined ? [] : [presentListed(delivery, present)];
    });
    return { items, total: items.length };
  },
});

export const DELIVERY_OPERATIONS: readonly ControlOperation[] = [listDeliveries, redeliver, showDelivery];
