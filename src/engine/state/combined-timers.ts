import type { TimerKind } from "./timers.ts";
import type { TimerHandler } from "./world-parts.ts";

/** One handler per kind out of those of several owners; each ignores subjects it does not know. */
export function combinedTimers(
  owners: readonly { timers?: Partial<Record<TimerKind, TimerHandler>> }[],
): Partial<Record<TimerKind, TimerHandler>> {
  const byKind = new Map<TimerKind, TimerHandler[]>();
  for (const { timers = {} } of owners) {
    for (const [kind, handler] of Object.entries(timers) as [TimerKind, TimerHandler][]) {
      byKind.set(kind, [...(byKind.get(kind) ?? []), handler]);
    }
  }
  return Object.fromEntries(
    [...byKind].map(([kind, handlers]) => [
      kind,
      (tx, timer) => {
        const effects = handlers
          .map((handler) => handler(tx, timer))
          .filter((effect) => effect !== undefined);
        return effects.length === 0
          ? undefined
          : async () => void (await Promise.all(effects.map((run) => run!())));
      },
    ]),
  ) as Partial<Record<TimerKind, TimerHandler>>;
}
