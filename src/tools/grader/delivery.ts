import { randomBytes, randomInt } from "node:crypto";
import { EMPTY_WORLD, inventData, type SampleContext } from "../../engine/contract/event.ts";
import { EVENTS, findEventByName } from "../../engine/resources/events.ts";
import { type Payload, renderBody } from "../../engine/resources/webhooks/deliveries.ts";
import { webhookTest } from "../../engine/resources/webhooks/schema.ts";
import { Random } from "../../engine/state/random.ts";
import { SIGNATURE_HEADER, sign, toDeliveryHeaders } from "../../engine/webhooks/sign.ts";
import type { RawRequest } from "./network.ts";

/** A delivery as the grader sends it. */
export interface TestDelivery {
  id: string;
  event: string;
  body: Buffer;
  /** Null sends no signature header at all. */
  signature: string | null;
}

/** Common to all deliveries of a run. */
export interface DeliverySource {
  secret: string;
  webhookId: string;
  organizationId: string;
  /** The event of deliveries whose shape names none. */
  event: string;
  /** Values for fields of data, in every event that has them. */
  data: Readonly<Record<string, unknown>>;
}

export interface DeliveryShape {
  event?: string;
  /** Replaces random values; for an undeclared event, all of its data. */
  data?: Record<string, unknown>;
  /** The delivery's id; random unless given. */
  id?: string;
  /** The payload's instant in epoch milliseconds; now unless given. */
  at?: number;
  /** Replaces the service's compact JSON with another way of writing the payload. */
  write?: (payload: Payload) => string;
}

/** Random, since receivers store ids: a second run must not look like repeated deliveries. */
export function createId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString("hex")}`;
}

/** Builds a correctly signed delivery with the payload of section 6.2, its data as the event is declared. */
export function makeDelivery(source: DeliverySource, shape: DeliveryShape = {}): TestDelivery {
  const { event = source.event, at = Date.now(), id = createId("del"), write = renderBody } = shape;
  const givenFields = {
    organization_id: source.organizationId,
    webhook_id: source.webhookId,
    ...source.data,
  };
  const payload: Payload = {
    event,
    data: { ...drawEventData(event, { at, givenFields }), ...shape.data },
    timestamp: new Date(at).toISOString(),
    webhook_id: source.webhookId,
    delivery_id: id,
  };
  const body = Buffer.from(write(payload));
  return { id, event, body, signature: sign(source.secret, body) };
}

/** How a request differs from the service's own. */
export interface RequestVariant {
  method?: string;
  /** Null leaves the header out. */
  contentType?: string | null;
  headerNames?: (name: string) => string;
  /** Sent in addition to those of 6.2. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** Replaces the delivery id in the header, which is not signed; the body is unchanged. */
  headerDeliveryId?: string;
  chunkAt?: number[];
  /** Whether to use a connection that carried other requests; default: no. */
  reuse?: boolean;
  /** The point at which the sender closes the connection. */
  leave?: RawRequest["leave"];
}

/** The request of section 6.2 for a delivery: the headers as the service sends them, unless `variant` says otherwise. */
export function toRequest(
  target: { url: URL; serviceName: string },
  delivery: TestDelivery,
  variant: RequestVariant = {},
): RawRequest {
  const serviceHeaders: Record<string, string> = toDeliveryHeaders({
    event: delivery.event,
    deliveryId: variant.headerDeliveryId ?? delivery.id,
    signature: delivery.signature ?? "",
    serviceName: target.serviceName,
  });
  if (variant.contentType === null) delete serviceHeaders["Content-Type"];
  else if (variant.contentType !== undefined) serviceHeaders["Content-Type"] = variant.contentType;
  if (delivery.signature === null) delete serviceHeaders[SIGNATURE_HEADER];
  const toHeaderName = variant.headerNames ?? ((name: string) => name);
  const headers = [...Object.entries(serviceHeaders), ...(variant.headers ?? [])].map(
    ([name, value]): [string, string] => [toHeaderName(name), value],
  );
  const { method = "POST", chunkAt, reuse, leave } = variant;
  return { method, url: target.url, headers, body: delivery.body, chunkAt, reuse, leave };
}

/** Every event that the service may send, the test included. */
export const SENT_EVENTS: readonly string[] = [...EVENTS, webhookTest].map(({ name }) => name);

/** Fields that at least one event's data has. */
export const DATA_FIELDS: ReadonlySet<string> = new Set([...EVENTS, webhookTest].flatMap(({ data }) => data));

/**
 * Random data of an event, with every declared field, so that a receiver that validates accepts it (section 6.2, G25). Empty for
 * an event that the service does not have.
 */
export function drawEventData(
  event: string,
  { at, givenFields }: Pick<SampleContext, "at" | "givenFields">,
): Record<string, unknown> {
  const declaration = event === webhookTest.name ? webhookTest : findEventByName(event);
  if (declaration === undefined) return {};
  const random = new Random(randomInt(2 ** 31), "grader");
  const data = inventData(declaration, { world: EMPTY_WORLD, at, random, givenFields });
  // Some validators refuse example.test, the domain of invented users, but not example.com. Some accept an address
  // only once.
  const { email } = data;
  if (typeof email === "string" && !("email" in givenFields))
    data["email"] = email.replace(/@.*$/, `.${random.characters(6)}@example.com`);
  return data;
}
