import { type Check, failed, isAccepted, isPutOff, notObservable, passed } from "../check.ts";
import { describe } from "../describe-exchange.ts";
import type { Exchange, Session } from "../session.ts";

/** Deliveries in a row over one connection; and how often one must break before it is no accident of timing. */
const IN_A_ROW = 12;
const TWICE = 2;

export const connectionReuse: Check = {
  id: "connection-reuse",
  title: "Answers on a connection that it offered to keep",
  severity: "major",
  why: "The service sends further deliveries over a connection that the receiver said to keep; where that is closed or confused instead, every second delivery fails and comes a minute later.",
  advice:
    "Answer with `Connection: close` where connections aren't kept; else read each body to its end before answering, and keep idle connections for some seconds.",
  mends: ["hung-up", "late", "no-http", "bad-request", "unauthorized", "not-found", "exception", "method"],
  async run(session) {
    let reused = 0;
    let broken: Exchange | null = null;
    for (let sent = 0, breaks = 0; sent < IN_A_ROW; sent += 1) {
      const delivery = session.makeDelivery();
      const exchange = await session.deliverOnce(delivery, { reuse: true });
      if (isPutOff(exchange)) return cutShort(exchange, { sent, reused, isBroken: broken !== null });
      if (isAccepted(exchange)) {
        if (exchange.result.reused) reused += 1;
        continue;
      }
      const fresh = await session.deliverOnce(delivery, { reuse: false });
      if (!isAccepted(fresh)) return unsteady(fresh);
      if (!exchange.result.reused) continue;
      broken = exchange;
      breaks += 1;
      if (breaks === TWICE) return blame(session, broken);
    }
    if (reused === 0 && broken === null)
      return passed("it keeps no connections, and says so", session.exchanges.at(-1)!);
    return passed(
      `${reused} deliveries were answered over a connection that was kept`,
      session.exchanges.at(-1)!,
    );
  },
};

function blame(session: Session, exchange: Exchange) {
  session.reusesConnections = false;
  return failed(
    `twice a delivery over a connection that it had offered to keep failed: the receiver ${describe(exchange)}; over a new connection each was accepted. From here on every delivery gets a new one`,
    exchange,
  );
}

/** What was answered before counts, unless it leaves open what broke. */
function cutShort(exchange: Exchange, seen: { sent: number; reused: number; isBroken: boolean }) {
  const { sent, reused, isBroken } = seen;
  const told = `after ${sent} of ${IN_A_ROW} deliveries the receiver ${describe(exchange)}`;
  if (reused === 0 || isBroken) return notObservable(told, exchange);
  return passed(`${reused} deliveries were answered over a connection that was kept; ${told}`, exchange);
}

/** Not the connection's fault: other checks will tell of it. */
function unsteady(exchange: Exchange) {
  return notObservable(`over a new connection, too, the receiver ${describe(exchange)}`, exchange);
}
