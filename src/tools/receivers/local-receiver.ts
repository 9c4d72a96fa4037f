import type { ForwardedAnswer, ForwardedDelivery } from "../../engine/receivers/forwarding.ts";
import type { Judgement } from "../../engine/receivers/judge-signature.ts";
import { createAddressPolicy } from "../../hosts/node/outbound/address-policy.ts";
import { createOutbound, type Outbound } from "../../hosts/node/outbound/outbound.ts";
import type { HeardDelivery } from "./format-delivery.ts";
import { AttemptCounter } from "./listen.ts";

/** A server forwards only signed deliveries. */
const SIGNED: Judgement = { verdict: "valid", code: "match", reason: "the server has judged it", fix: "" };

/** A receiver on this machine that is called for a server that cannot reach it (interfaces 11). */
export class LocalReceiver {
  private readonly url: string;
  private readonly timeoutMs: number;
  private readonly outbound: Outbound = createOutbound({ policy: createAddressPolicy({ mode: "local" }) });
  private readonly attempts = new AttemptCounter();

  constructor(url: string, timeoutMs: number) {
    this.url = url;
    this.timeoutMs = timeoutMs;
  }

  /** Calls it as the service would. Gives the answer for the server, and the delivery for the terminal. */
  async call({ method, headers, body_base64 }: ForwardedDelivery): Promise<{
    answer: ForwardedAnswer;
    heard: HeardDelivery;
  }> {
    const at = new Date().toISOString();
    const body = Buffer.from(body_base64, "base64");
    const answered = await this.outbound.send({
      url: this.url,
      method,
      headers,
      body,
      timeoutMs: this.timeoutMs,
    });
    const { response_code, duration_ms, error } = answered;
    const received = lowerCased(headers);
    return {
      answer:
        error === undefined
          ? {
              status: response_code,
              headers: answered.headers,
              body_base64: answered.body.toString("base64"),
            }
          : { failure: error.message },
      heard: {
        ...this.attempts.count(received),
        at,
        method,
        path: new URL(this.url).pathname,
        headers: received,
        body,
        judgement: SIGNED,
        answer: error === undefined ? `${response_code} in ${duration_ms} ms` : `no answer: ${error.message}`,
      },
    };
  }

  close(): void {
    this.outbound.close();
  }
}

function lowerCased(headers: ForwardedDelivery["headers"]): ForwardedDelivery["headers"] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
