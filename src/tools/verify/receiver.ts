import { createServer, type IncomingHttpHeaders } from "node:http";
import { sign } from "../../engine/webhooks/sign.ts";
import { openPort } from "../../hosts/node/own-address.ts";
import { toExcerpt } from "./check-answer.ts";
import { parseJson } from "./exchange.ts";
import { isTimestamp } from "./timestamps.ts";
import type { Verdict } from "./verdict.ts";

interface ReceivedDelivery {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Opens a receiver for this run, for a service on this machine. */
export async function openReceiver() {
  const deliveries: ReceivedDelivery[] = [];
  const server = createServer(async (request, response) => {
    const pieces = (await request.toArray().catch(() => undefined)) as Buffer[] | undefined;
    // The sender has left in the middle of the body.
    if (pieces === undefined) return;
    deliveries.push({ headers: request.headers, bytes: Buffer.concat(pieces) });
    response.writeHead(204).end();
  });
  const { url, close } = await openPort(server, 0, "127.0.0.1");
  return { url: `${url}/hook`, deliveries, close: () => void close() };
}

/** Checks headers, signature and body of a delivery (6.2, 6.3). */
export function checkReceivedDelivery(
  verdict: Verdict,
  { headers, bytes }: ReceivedDelivery,
  { webhook_id, secret }: { webhook_id: string; secret: string },
): void {
  const body = (parseJson(bytes.toString("utf8")).json ?? {}) as Record<string, unknown>;
  const { event, data, timestamp, delivery_id } = body;
  const { "content-type": type, "user-agent": agent } = headers;
  const expectHeader = (name: string, value: unknown) =>
    [name, headers[name], headers[name] === value] as const;
  const expectations: (readonly [name: string, actual: unknown, fits: boolean])[] = [
    ["content-type", type, /^application\/json\b/.test(type ?? "")],
    ["user-agent", agent, /^\S+-Webhook\/1\.0$/.test(agent ?? "")],
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
