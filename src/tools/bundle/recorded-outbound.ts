import type { Outbound } from "../../hosts/node/outbound/outbound.ts";
import type { OutboundRequest, OutboundResult } from "../../hosts/node/outbound/outbound-request.ts";
import type { RecordedAttempt } from "./bundle.ts";

/**
 * Plays the receivers of a bundle: each attempt of a delivery is answered as it was then, and nobody is
 * called. Anything else is answered with what `otherwise` says.
 */
export function recordedOutbound(
  deliveries: Readonly<Record<string, readonly RecordedAttempt[]>>,
  { otherwise, onEnd }: { otherwise: () => number; onEnd: (at: string) => void },
): Outbound {
  const made = new Map<string, number>();
  return {
    async send({ headers }: OutboundRequest): Promise<OutboundResult> {
      const id = deliveryOf(headers);
      const attempt = made.get(id ?? "") ?? 0;
      if (id !== undefined) made.set(id, attempt + 1);
      const recorded = id === undefined ? undefined : deliveries[id]?.[attempt];
      const response_code = recorded?.response_code ?? (id === undefined ? otherwise() : 200);
      if (recorded?.ended_at !== undefined) onEnd(recorded.ended_at);
      const plain = { response_code, headers: {}, body: Buffer.alloc(0), truncated: false, duration_ms: 0 };
      if (response_code !== 0) return plain;
      return { ...plain, error: { kind: "refused", message: "no answer, as it was recorded" } };
    },
    close() {},
  };
}

function deliveryOf(headers: OutboundRequest["headers"]): string | undefined {
  const [, value] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === "x-service-delivery") ?? [];
  return value === undefined ? undefined : String(value);
}
