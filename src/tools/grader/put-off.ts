import { type Finding, failed, isAccepted, isOverloaded, isPutOff, notObservable } from "./check.ts";
import { describe } from "./describe-exchange.ts";
import { type Exchange, type Session, WebhookGone } from "./session.ts";

/** Sends a delivery that nothing is the matter with: whether "later" was meant for all, or for one alone. */
export function deliverAnother(session: Session): Promise<Exchange> {
  return session.deliverOnce(session.makeDelivery(), { reuse: false });
}

/**
 * A 429 that no patience overcomes, or a 503: of a receiver that puts everybody off it tells nothing; of one that
 * takes another delivery meanwhile it is the answer to this one.
 */
export async function judgePutOff(session: Session, exchange: Exchange, label: string): Promise<Finding> {
  return findPutOff(exchange, { label, other: await deliverAnother(session) });
}

export function findPutOff(
  exchange: Exchange,
  { label, other }: { label: string; other: Exchange },
): Finding {
  // Only a 429 was sent again in between.
  const often = isOverloaded(exchange) ? "" : ", time and again";
  const told = `${label}: the receiver ${describe(exchange)}${often}`;
  if (isPutOff(other)) return notObservable(`${told}, as it does to others`, exchange);
  if (isAccepted(other)) return failed(`${told}, while it took another delivery`, exchange);
  return failed(`${told}; to another delivery it ${describe(other)}`, exchange);
}

/**
 * Whether a receiver whose last word to a genuine delivery was 503 says so to another, however often that is sent,
 * for longer than patience lasts: such a one is down behind its gateway, and nothing more can be graded.
 */
export async function staysOverloaded(session: Session, exchanges: readonly Exchange[]): Promise<boolean> {
  const last = exchanges.findLast(({ genuine }) => genuine);
  if (last === undefined || !isOverloaded(last)) return false;
  const giveUp = performance.now() + session.options.patienceMs;
  try {
    const delivery = session.makeDelivery();
    // Some take each delivery at the second attempt only.
    for (let attempt = 1; ; attempt += 1) {
      if (!isOverloaded(await session.deliver(delivery))) return false;
      if (attempt > 1 && performance.now() >= giveUp) return true;
      await session.pause(200);
    }
  } catch (error) {
    if (error instanceof WebhookGone) return false;
    throw error;
  }
}
