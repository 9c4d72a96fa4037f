import type { SandboxClient } from "../client/sandbox.ts";
import type { DeliveryDetail, RanTimer } from "../client/types.ts";
import { table } from "./output.ts";

/** A timer that ran; a webhook's retry with what its receiver answered, 0 for no answer (G24). */
export interface RanWithAnswer extends RanTimer {
  response_code?: number;
  /** Of one that failed: why. */
  why?: string;
}

/** Deliveries that are looked up; a longer list is shown without the answers of the rest. */
const LOOKED_UP = 200;

/** Why the last attempt of each failed, by the delivery's id; nothing of those that were delivered. */
export async function failureReasons(
  sandbox: SandboxClient,
  deliveries: readonly { delivery_id: string; status: string }[],
): Promise<Map<string, string>> {
  const whys = new Map<string, string>();
  const failed = deliveries.filter(({ status }) => status !== "success");
  for (const { delivery_id } of failed.slice(0, LOOKED_UP)) {
    const found = await fetchDetail(sandbox, delivery_id);
    if (found?.why) whys.set(delivery_id, found.why);
  }
  return whys;
}

/** It may be gone: deleted with its webhook by what came after it. */
function fetchDetail(sandbox: SandboxClient, delivery_id: string): Promise<DeliveryDetail | undefined> {
  return sandbox.deliveries.get(delivery_id).catch(() => undefined);
}

/** Adds what each retry was answered, as its delivery's log of attempts holds it. */
export async function withAnswers(
  sandbox: SandboxClient,
  ran: readonly RanTimer[],
): Promise<RanWithAnswer[]> {
  const retried = [
    ...new Set(ran.filter(({ kind }) => kind === "webhook.retry").map(({ subject }) => subject)),
  ];
  const logs = new Map<string, DeliveryDetail["log"]>();
  for (const id of retried.slice(0, LOOKED_UP)) {
    logs.set(id, (await fetchDetail(sandbox, id))?.log ?? []);
  }
  return ran.map((timer) => {
    const attempt = logs.get(timer.subject)?.find(({ at }) => at === timer.at);
    if (attempt === undefined) return timer;
    const { response_code, why } = attempt;
    return { ...timer, response_code, ...(why === null ? {} : { why }) };
  });
}

export function ranTable(ran: readonly RanWithAnswer[]): string {
  if (ran.length === 0) return "Nothing became due.";
  const isAnswered = ran.some(({ response_code }) => response_code !== undefined);
  const answer = ({ response_code }: RanWithAnswer) =>
    response_code === 0 ? "none" : String(response_code ?? "");
  return table(
    ["ran at", "kind", "subject", ...(isAnswered ? ["answer", "why"] : [])],
    ran.map((timer) => [
      timer.at,
      timer.kind,
      timer.subject,
      ...(isAnswered ? [answer(timer), timer.why ?? ""] : []),
    ]),
  );
}
