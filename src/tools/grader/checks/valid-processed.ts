import { type Check, failed, isAccepted, isPutOff, notObservable, passed } from "../check.ts";
import { describe } from "../describe-exchange.ts";
import { ifLate, NO_PROBE, onceEach } from "../expectations.ts";
import { seconds } from "../probe.ts";
import { judgePutOff } from "../put-off.ts";
import { adviceOnRefused, STORE_THEN_ANSWER } from "../trouble.ts";

/** The first side effect is waited for this many times as long as the others: it tells how late they are. */
const FIRST_PATIENCE = 4;

export const validProcessed: Check = {
  id: "valid-processed",
  title: "Processes an accepted delivery exactly once",
  severity: "critical",
  why: "After a 2xx the service never sends a delivery again, so one that was acknowledged but not processed is lost.",
  advice: `What is acknowledged must be done, once. ${STORE_THEN_ANSWER} The probe must show it.`,
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const exchange = await session.deliver(delivery);
    if (isPutOff(exchange)) return judgePutOff(session, exchange, "a valid delivery");
    if (!isAccepted(exchange)) {
      const finding = failed(`the receiver ${describe(exchange)}, where 2xx is expected`, exchange);
      return { ...finding, advice: adviceOnRefused(exchange) };
    }
    const { patienceMs } = session.options;
    let effects = await session.observeEffects(before, onceEach([delivery]));
    let waitedMs = effects?.latenessMs ?? 0;
    for (let turn = 1; effects?.missing && turn < FIRST_PATIENCE; turn += 1) {
      effects = await session.observeEffects(before, onceEach([delivery]));
      waitedMs += effects!.latenessMs;
    }
    if (effects === null) return notObservable(`answered as it should be, but ${NO_PROBE}`, exchange);
    if (effects.missing) {
      const detail = effects.difference!.replace(/, in [\d.]+ s$/, `, in ${seconds(waitedMs)}`);
      return { ...failed(detail, exchange), advice: `${this.advice} ${ifLate(session)}` };
    }
    if (effects.difference !== null) return failed(effects.difference, exchange);
    session.allowFor(waitedMs);
    const finding = passed("answered as it should be, and the probe shows exactly one side effect", exchange);
    if (waitedMs <= patienceMs) return finding;
    const note = `Its side effect came ${seconds(waitedMs)} after the answer; from here on the grader waited for so long each time. --patience ${Math.ceil((waitedMs * 1.5) / 1000)} says so from the start.`;
    return { ...finding, note };
  },
};
