import type { SandboxClient } from "../client/sandbox.ts";
import type { RanTimer } from "../client/types.ts";
import { table } from "./output.ts";

/** A timer that ran; a webhook's retry with what its receiver answered, 0 for no answer (G24). */
export interface RanWithAnswer extends RanTimer {
  response_code?: number;
}

/** Deliveries that are looked up; a longer list is shown without the answers of the rest. */
const LOOKED_UP = 200;

interface LoggedAttempt {
  at: string;
  response_code: number;
}

/** Adds what each retry was answered, as its delivery's log of attempts holds it. */
export async function withAnswers(
  sandbox: SandboxClient,
  ran: readonly RanTimer[],
): Promise<RanWithAnswer[]> {
  const retried = [
    ...new Set(ran.filter(({ kind }) => kind === "webhook.retry").map(({ subject }) => subject)),
  ];
  const logs = new Map<string, readonly LoggedAttempt[]>();
  for (const id of retried.slice(0, LOOKED_UP)) {
    // It may be gone: deleted with its webhook by what ran after it.
    const delivery = await sandbox
      .state("deliveries")
      .get(id)
      .catch(() => undefined);
    logs.set(id, delivery?.attempt_log ?? []);
  }
  return ran.map((timer) => {
    const attempt = logs.get(timer.subject)?.find(({ at }) => at === timer.at);
    return attempt === undefined ? timer : { ...timer, response_code: attempt.response_code };
  });
}

export function ranTable(ran: readonly RanWithAnswer[]): string {
  if (ran.length === 0) return "Nothing became due.";
  const isAnswered = ran.some(({ response_code }) => response_code !== undefined);
  const answer = ({ response_code }: RanWithAnswer) =>
    response_code === 0 ? "none" : String(response_code ?? "");
  return table(
    ["ran at", "kind", "subject", ...(isAnswered ? ["answer"] : [])],
    ran.map((timer) => [timer.at, timer.kind, timer.subject, ...(isAnswered ? [answer(timer)] : [])]),
  );
}
