import {
  type Check,
  type Finding,
  failed,
  isAccepted,
  isPutOff,
  notObservable,
  passed,
  statusOf,
} from "../check.ts";
import { describe } from "../describe-exchange.ts";
import { judgePutOff } from "../put-off.ts";
import type { Exchange, Session } from "../session.ts";

const METHODS = ["PUT", "PATCH", "DELETE"];

export const methodPostOnly: Check = {
  id: "method-post-only",
  title: "Takes deliveries by POST alone, and answers others in an orderly way",
  severity: "minor",
  why: "A route that takes any method hides mistakes of routing, and slips past rules of proxies and firewalls that are written for POST.",
  advice:
    "Route POST alone; answer 405 with `Allow: POST` (or 404) to other methods. A GET may say that all is well.",
  mends: ["exception"],
  async run(session) {
    for (const method of METHODS) {
      const finding = await judgeMethod(session, method);
      if (finding !== null) return finding;
    }
    const exchange = await session.get();
    const putOff = await putOffLikeAll(session, exchange, "GET");
    if (putOff !== null) return putOff;
    const status = statusOf(exchange);
    // 501 is how some servers say that they know no such method.
    if (status >= 500 && status !== 501) {
      return failed(
        `GET: the receiver ${describe(exchange)}, where no error of the server is expected`,
        exchange,
      );
    }
    return passed(`${METHODS.join(", ")} aren't taken; to GET the receiver ${describe(exchange)}`, exchange);
  },
};

/** "Later" says nothing of a method where a delivery by POST is told so too. */
async function putOffLikeAll(session: Session, exchange: Exchange, method: string): Promise<Finding | null> {
  if (!isPutOff(exchange)) return null;
  const finding = await judgePutOff(session, exchange, method);
  return finding.outcome === "not-observable" ? finding : null;
}

/** A receiver that says 200 to everything that is no POST takes no delivery by it: then a forged one is as welcome. */
async function judgeMethod(session: Session, method: string): Promise<Finding | null> {
  const before = await session.readProbe();
  const delivery = session.makeDelivery();
  const genuine = await session.deliver(delivery, { method });
  if (!isAccepted(genuine)) return putOffLikeAll(session, genuine, method);
  const taken = failed(`${method}: a valid delivery was taken: the receiver ${describe(genuine)}`, genuine);
  const effects = await session.observeEffects(before, new Map([[delivery.id, 0]]));
  if (effects !== null) return effects.difference === null ? null : taken;
  const forged = await session.deliver({ ...session.makeDelivery(), signature: null }, { method });
  if (!isAccepted(forged)) return taken;
  return notObservable(
    `${method}: everything is answered 2xx, and only a probe could tell whether it is processed`,
    genuine,
  );
}
