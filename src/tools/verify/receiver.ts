import { sign } from "../../engine/webhooks/sign.ts";
import { createListener, type ReceivedDelivery } from "../receivers/listen.ts";
import { toExcerpt } from "./check-answer.ts";
import { parseJson } from "./exchange.ts";
import { isTimestamp } from "./timestamps.ts";
import type { Verdict } from "./verdict.ts";

/** Opens a receiver for this run, for a service on this machine. */
export async function openReceiver() {
  const deliveries: ReceivedDelivery[] = [];
  const onDelivery = (delivery: ReceivedDelivery) => void deliveries.push(delivery);
  const { url, close } = await createListener({ port: 0, answers: [204], onDelivery });
  return { url: `${url}/hook`, deliveries, close: () => void close() };
}

/** Checks headers, signature and body of a delivery (sections 6.2 and 6.3). */
export function checkReceivedDelivery(
  verdict: Verdict,
  { headers, body: bytes }: Pick<ReceivedDelivery, "headers" | "body">,
  { webhook_id, secret }: { webhook_id: string; secret: string },
): void {
  const body = (parseJson(bytes.toString("utf8")).json ?? {}) as Record<string, unknown>;
  const { event, data, timestamp, delivery_id } = body;
  const { "content-type": type, "user-agent": agent } = headers;
  const expectHeader = (name: string, value: unknown) =>
    [name, headers[name], headers[name] === value] as const;
  const expectations: (readonly [name: string, actual: unknown, fits: boolean])[] = [
    ["content-type", type, /^application\/json\b/.test(String(type))],
    ["user-agent", agent, /^\S+-Webhook\/1\.0$/.test(String(agent))],
    expectHeader("x-service-event", event),
    expectHeader("x-service-delivery", delivery_id),
    expectHeader("x-service-signature", sign(secret, bytes)),
    ["webhook_id", body["webhook_id"], body["webhook_id"] === webhook_id],
    ["event", event, typeof event === "string"],
    ["data", data, typeof data === "object" && data !== null],
    ["timestamp", timestamp, isTimestamp(timestamp)],
    ["delivery_id", delivery_id, /^del_\w/.test(String(delivery_id))],
  ];
  for (const [name, actual, fits] of expectations)
    verdict.expect(fits, `a delivery to ${webhook_id} has ${toExcerpt(actual)} as ${name}`);
}
