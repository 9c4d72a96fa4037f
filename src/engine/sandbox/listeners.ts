import type { Resource } from "../contract/resource.ts";
import type { Services } from "../contract/services.ts";
import { TIMER_KINDS } from "../state/clock.ts";
import type { WorldParts } from "../state/world-parts.ts";

/** The part of a resource that reacts to timers and events. */
type ListeningResource = Pick<Resource, "timers" | "onEvents">;

/** Combines the handlers of all resources to one per kind; each resource ignores unknown subjects. */
export function combineTimerHandlers(resources: readonly ListeningResource[]): WorldParts["timerHandlers"] {
  const handlersByKind: WorldParts["timerHandlers"] = {};
  for (const kind of TIMER_KINDS) {
    const handlers = resources.flatMap(({ timers }) => timers?.[kind] ?? []);
    if (handlers.length > 0)
      handlersByKind[kind] = (tx, timer) =>
        combineEffects(handlers.flatMap((handle) => handle(tx, timer) ?? []));
  }
  return handlersByKind;
}

/**
 * Combines the event listeners of all resources to one. Their work on the network runs after the commit; `services` is
 * not called before.
 */
export function combineListeners(
  resources: readonly ListeningResource[],
  services: () => Services,
): WorldParts["onEmit"] {
  const listeners = resources.flatMap(({ onEvents }) => onEvents ?? []);
  return (tx, events) => {
    const effects = listeners.flatMap((listen) => listen(tx, events) ?? []);
    return combineEffects(effects.map((run) => () => run(services())));
  };
}

function combineEffects(effects: readonly (() => Promise<unknown>)[]): undefined | (() => Promise<void>) {
  if (effects.length === 0) return undefined;
  return async () => void (await Promise.all(effects.map((run) => run())));
}
