import { randomBytes } from "node:crypto";
import { deliveryHeaders, SIGNATURE_HEADER, sign } from "../webhooks/sign.ts";
import type { RawRequest } from "./send-raw.ts";

export interface Delivery {
  id: string;
  event: string;
  body: Buffer;
  /** Null sends no signature header at all. */
  signature: string | null;
}

export interface Payload {
  event: string;
  data: Record<string, unknown>;
  timestamp: string;
  webhook_id: string;
  delivery_id: string;
}

export interface DeliverySource {
  secret: string;
  webhookId: string;
}

export interface DeliveryShape {
  event?: string;
  data?: Record<string, unknown>;
  /** Milliseconds between the payload's timestamp and now; positive is in the past. */
  ageMs?: number;
  /** Writes the payload in another textual form than compact JSON. */
  write?: (payload: Payload) => string;
}

/**
 * Ids are drawn afresh for every run: a receiver keeps the ids it has seen, and a repeated run must
 * not look to it like a repeated delivery.
 */
export function freshId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}

/** Builds a correctly signed delivery with the payload of 6.2, by default a `user.created`. */
export function makeDelivery(source: DeliverySource, shape: DeliveryShape = {}): Delivery {
  const now = Date.now();
  const payload: Payload = {
    event: shape.event ?? "user.created",
    data: shape.data ?? {
      user_id: freshId("usr"),
      email: "ada@example.com",
      created_at: new Date(now).toISOString(),
    },
    timestamp: new Date(now - (shape.ageMs ?? 0)).toISOString(),
    webhook_id: source.webhookId,
    delivery_id: freshId("del"),
  };
  const body = Buffer.from((shape.write ?? JSON.stringify)(payload));
  return { id: payload.delivery_id, event: payload.event, body, signature: sign(source.secret, body) };
}

export interface Transport {
  contentType?: string;
  headerNames?: (name: string) => string;
  /** Replaces the (unsigned) delivery id in the header, the body staying as it is. */
  headerDeliveryId?: string;
  chunkAt?: number[];
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
  if (transport.contentType) sent["Content-Type"] = transport.contentType;
  if (delivery.signature === null) delete sent[SIGNATURE_HEADER];
  const named = transport.headerNames ?? ((name: string) => name);
  const headers = Object.entries(sent).map(([name, value]): [string, string] => [named(name), value]);
  const request: RawRequest = { method: "POST", url: target.url, headers, body: delivery.body };
  if (transport.chunkAt) request.chunkAt = transport.chunkAt;
  if (transport.leave) request.leave = transport.leave;
  return request;
}
