import { createServer, type IncomingHttpHeaders } from "node:http";
import { sign } from "../../engine/webhooks/sign.ts";
import { closeAtOnce, openPort } from "../../hosts/node/own-address.ts";
import { toExcerpt } from "./check-answer.ts";
import { parseJson } from "./exchange.ts";
import type { Verdict } from "./verdict.ts";

export interface ReceivedDelivery {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Opens a receiver for this run, for a service on this machine. */
export async function openReceiver() {
  const deliveries: ReceivedDelivery[] = [];
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat((await request.toArray()) as Buffer[]);
    deliveries.push({ headers: request.headers, bytes });
    response.writeHead(204).end();
  });
  const url = await openPort(server, 0, "127.0.0.1");
  return { url: `${url}/hook`, deliveries, close: () => void closeAtOnce(server) };
}

/** Checks headers, signature and body of a delivery (6.2, 6.3). */
export function checkReceivedDelivery(
  verdict: Verdict,
  { headers, bytes }: ReceivedDelivery,
  { webhook_id, secret }: { webhook_id: string; secret: string },
): void {
  const body = (parseJson(bytes.toString("utf8")).json ?? {}) as Record<string, unknown>;
  const expectations: Record<string, [actual: unknown, fits: boolean]> = {
    "content-type": [headers["content-type"], /^application\/json\b/.test(headers["content-type"] ?? "")],
    "user-agent": [headers["user-agent"], /^\S+-Webhook\/1\.0$/.test(headers["user-agent"] ?? "")],
  };
  const expectValue = (name: string, value: unknown, actual: unknown = headers[name]) => {
    expectations[name] = [actual, actual === value];
  };
  expectValue("x-service-event", body["event"]);
  expectValue("x-service-delivery", body["delivery_id"]);
  expectValue("x-service-signature", sign(secret, bytes));
  expectValue("webhook_id", webhook_id, body["webhook_id"]);
  const { event, data, timestamp, delivery_id } = body;
  expectations["event"] = [event, typeof event === "string"];
  expectations["data"] = [data, typeof data === "object" && data !== null];
  expectations["timestamp"] = [timestamp, /^\d{4}-.*Z$/.test(String(timestamp))];
  expectations["delivery_id"] = [delivery_id, /^del_\w/.test(String(delivery_id))];
  for (const [name, [actual, fits]] of Object.entries(expectations))
    verdict.expect(fits, `a delivery to ${webhook_id} has ${toExcerpt(actual)} as ${name}`);
}
