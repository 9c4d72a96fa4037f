import { randomBytes } from "node:crypto";
import { type Payload, renderBody } from "../../engine/resources/webhooks/body.ts";
import { deliveryHeaders, SIGNATURE_HEADER, sign } from "../../engine/webhooks/sign.ts";
import { drawEventData } from "./event-data.ts";
import type { RawRequest } from "./send-raw.ts";

export type { Payload };

export interface Delivery {
  id: string;
  event: string;
  body: Buffer;
  /** Null sends no signature header at all. */
  signature: string | null;
}

/** What all deliveries of a run have in common. */
export interface DeliverySource {
  secret: string;
  webhookId: string;
  organizationId: string;
  /** The event of deliveries that name none. */
  event: string;
  /** Fields of data that the receiver is to see in every event that has them. */
  data: Readonly<Record<string, unknown>>;
}

export interface DeliveryShape {
  event?: string;
  /** In place of the values drawn; for an event of no declaration, all of its data. */
  data?: Record<string, unknown>;
  /** The delivery's id; drawn afresh unless given. */
  id?: string;
  /** The payload's instant in epoch milliseconds; now unless given. */
  at?: number;
  /** Writes the payload in another textual form than the service's compact JSON. */
  write?: (payload: Payload) => string;
}

/**
 * Ids are drawn afresh for every run: a receiver keeps the ids it has seen, and a repeated run must
 * not look to it like a repeated delivery.
 */
export function freshId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}

/** Builds a correctly signed delivery with the payload of 6.2, its data as the event is declared. */
export function makeDelivery(source: DeliverySource, shape: DeliveryShape = {}): Delivery {
  const { event = source.event, at = Date.now(), id = freshId("del"), write = renderBody } = shape;
  const known = { organization_id: source.organizationId, webhook_id: source.webhookId, ...source.data };
  const payload: Payload = {
    event,
    data: { ...drawEventData(event, { at, known }), ...shape.data },
    timestamp: new Date(at).toISOString(),
    webhook_id: source.webhookId,
    delivery_id: id,
  };
  const body = Buffer.from(write(payload));
  return { id, event, body, signature: sign(source.secret, body) };
}

/** How a request differs from the service's own. */
export interface Transport {
  method?: string;
  /** Null leaves the header out. */
  contentType?: string | null;
  headerNames?: (name: string) => string;
  /** Sent besides those of 6.2. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** Replaces the (unsigned) delivery id in the header, the body staying as it is. */
  headerDeliveryId?: string;
  chunkAt?: number[];
  /** Over a connection that others were sent on, which is otherwise for the service's own requests alone. */
  reuse?: boolean;
  leave?: RawRequest["leave"];
}

/** The request of 6.2 for a delivery: the headers as the service sends them, unless `transport` says otherwise. */
export function deliveryRequest(
  target: { url: URL; serviceName: string },
  delivery: Delivery,
  transport: Transport = {},
): RawRequest {
  const sent: Record<string, string> = deliveryHeaders({
    event: delivery.event,
    deliveryId: transport.headerDeliveryId ?? delivery.id,
    signature: delivery.signature ?? "",
    serviceName: target.serviceName,
  });
  if (transport.contentType === null) delete sent["Content-Type"];
  else if (transport.contentType !== undefined) sent["Content-Type"] = transport.contentType;
  if (delivery.signature === null) delete sent[SIGNATURE_HEADER];
  const named = transport.headerNames ?? ((name: string) => name);
  const headers = [...Object.entries(sent), ...(transport.headers ?? [])].map(
    ([name, value]): [string, string] => [named(name), value],
  );
  const { method = "POST", chunkAt, reuse, leave } = transport;
  return { method, url: target.url, headers, body: delivery.body, chunkAt, reuse, leave };
}
