import {
  type Finding,
  failed,
  isAccepted,
  isOverloaded,
  isPutOff,
  isRefused,
  notObservable,
  passed,
  statusOf,
} from "./check.ts";
import type { Delivery, Transport } from "./delivery.ts";
import { describe } from "./describe-exchange.ts";
import { type ExpectedEffects, type ProbeReading, seconds } from "./probe.ts";
import { deliverAnother, findPutOff, judgePutOff } from "./put-off.ts";
import type { Exchange, Session } from "./session.ts";
import { STORE_THEN_ANSWER } from "./trouble.ts";

export interface Sending {
  label: string;
  delivery: Delivery;
  transport?: Transport | undefined;
}

/** What to say of an answer to a delivery that should have been accepted, and was not. */
export async function judgeNotAccepted(
  session: Session,
  exchange: Exchange,
  label: string,
): Promise<Finding> {
  if (isPutOff(exchange)) return judgePutOff(session, exchange, label);
  return failed(`${label}: the receiver ${describe(exchange)}, where 2xx is expected`, exchange);
}

/** Sends each delivery in turn; passes when every one is answered 2xx. */
export async function expectAccepted(session: Session, sendings: Sending[]): Promise<Finding> {
  let last: Exchange | null = null;
  for (const { label, delivery, transport } of sendings) {
    last = await session.deliver(delivery, transport);
    if (!isAccepted(last)) return judgeNotAccepted(session, last, label);
  }
  return passed(last ? `the receiver ${describe(last)}` : "nothing to send", last);
}

/**
 * Sends all deliveries; passes when every one is answered 4xx and, where a probe can tell, none of them had a
 * side effect. `anyRefusal`: whatever is not 2xx will do, since the manner of refusing is judged elsewhere.
 */
export async function expectRefused(
  session: Session,
  sendings: Sending[],
  { anyRefusal = false }: { anyRefusal?: boolean } = {},
): Promise<Finding> {
  const before = await session.readProbe();
  const expected = new Map(sendings.map(({ delivery }) => [delivery.id, 0]));
  let last: Exchange | null = null;
  for (const group of groups(sendings, session.atOnce())) {
    const exchanges = await Promise.all(
      group.map(({ delivery, transport }) => session.deliver(delivery, transport)),
    );
    for (const [index, sent] of exchanges.entries()) {
      const { label, delivery, transport } = group[index]!;
      // There may have been no room for several at once.
      const exchange = isOverloaded(sent) ? await session.deliver(delivery, transport) : sent;
      last = exchange;
      if (isPutOff(exchange)) {
        const other = await deliverAnother(session);
        // One that took another delivery meanwhile has refused this one, in a manner of its own.
        if (!anyRefusal || !isAccepted(other)) return findPutOff(exchange, { label, other });
        if (before?.ids === null) expected.set(other.delivery!.id, 1);
        continue;
      }
      if (anyRefusal ? !isAccepted(exchange) : isRefused(exchange)) continue;
      return failed(`${label}: the receiver ${describe(exchange)}, where 4xx is expected`, exchange);
    }
  }
  const effects = await session.observeEffects(before, expected);
  if (effects !== null && effects.difference !== null) {
    const advice =
      "Verify the signature before anything is done with the delivery: refusing it is not enough.";
    return { ...failed(`the delivery was refused and yet processed: ${effects.difference}`, last), advice };
  }
  return passed(last ? `the receiver ${describe(last)}` : "nothing to send", last);
}

function groups<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

export const NO_PROBE = "side effects cannot be seen without a probe that can be read (--probe URL)";

/** Answers of a receiver that is still busy with the same delivery, and wants it later. */
const BUSY = new Set([409, 423, 425, 500, 502, 503, 504]);

/**
 * Sends a delivery that the receiver may be working on already: told to come again, it does so for as long as
 * the session's patience lasts (the service would leave a minute in between).
 */
export async function deliverWhenFree(session: Session, delivery: Delivery): Promise<Exchange> {
  const giveUp = performance.now() + session.options.patienceMs;
  for (;;) {
    const exchange = await session.deliver(delivery);
    if (!BUSY.has(statusOf(exchange)) || performance.now() >= giveUp) return exchange;
    await session.pause(200);
  }
}

/** Null when every answer is 2xx, else the finding. */
export async function deliverInTurn(session: Session, deliveries: Delivery[]): Promise<Finding | null> {
  for (const [index, delivery] of deliveries.entries()) {
    const exchange: Exchange = await session.deliver(delivery);
    if (isAccepted(exchange)) continue;
    const again = deliveries.indexOf(delivery) < index ? " (a repetition)" : "";
    return judgeNotAccepted(session, exchange, `delivery ${index + 1}${again}`);
  }
  return null;
}

/** Acknowledged, and not done. */
const LOST = `What is acknowledged must be done. ${STORE_THEN_ANSWER}`;

/** Turns the probe's word into the finding of a check whose answers were already found to be right. */
export async function judgeEffects(
  session: Session,
  observed: {
    before: ProbeReading | null;
    expected: ExpectedEffects;
    /** What to change where one is missing, if the check knows better than that it was lost. */
    whenMissing?: string;
  },
): Promise<Finding> {
  const exchange = session.exchanges.at(-1)!;
  const effects = await session.observeEffects(observed.before, observed.expected);
  if (effects === null) return notObservable(`answered as it should be, but ${NO_PROBE}`, exchange);
  if (effects.difference === null) {
    return passed("answered as it should be, and the probe shows exactly one side effect each", exchange);
  }
  const finding = failed(effects.difference, exchange);
  if (!effects.missing) return finding;
  return { ...finding, advice: `${observed.whenMissing ?? LOST} ${ifLate(session)}` };
}

/** Of side effects that did not show: they may be lost, or on their way. */
export function ifLate(session: Session): string {
  return `If it only comes later than ${seconds(session.options.patienceMs)} after the answer, raise --patience.`;
}

/** `n` deliveries with one side effect each. */
export function onceEach(deliveries: readonly Delivery[]): ExpectedEffects {
  return new Map(deliveries.map(({ id }) => [id, 1]));
}
