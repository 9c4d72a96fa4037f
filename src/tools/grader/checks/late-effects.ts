import { type Check, failed, notObservable, passed } from "../check.ts";
import { NO_PROBE } from "../expectations.ts";
import { occurrences } from "../probe.ts";
import type { Exchange, Session } from "../session.ts";

export const lateEffects: Check = {
  id: "late-effects",
  title: "Processes nothing a second time later",
  severity: "critical",
  why: "A job that runs again what was done at once, or a timer that finds it undone, doubles an effect when nobody looks any more.",
  advice:
    "Let one place do the work: at once, or from the queue. Mark it as done in the same transaction as the side effect.",
  async run(session) {
    const reading = await session.readProbe();
    if (reading === null) return notObservable(NO_PROBE);
    if (reading.ids === null) return passed("at the end the probe's count stands still");
    const once = sentOnce(session);
    const again = once.find(({ delivery }) => occurrences(reading, delivery!.id) > 1);
    if (again === undefined) {
      return passed(`none of ${once.length} deliveries that were sent once was processed twice`, once[0]);
    }
    const times = occurrences(reading, again.delivery!.id);
    return failed(`delivery ${again.delivery!.id} was sent once, and by now processed ${times} times`, again);
  },
};

function sentOnce({ exchanges }: Session): Exchange[] {
  const counts = new Map<string, number>();
  for (const { delivery } of exchanges) {
    if (delivery !== null) counts.set(delivery.id, (counts.get(delivery.id) ?? 0) + 1);
  }
  return exchanges.filter(({ delivery, genuine }) => genuine && counts.get(delivery!.id) === 1);
}
