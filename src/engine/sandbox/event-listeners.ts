import type { EventListener } from "../contract/resource.ts";
import type { Services } from "../contract/services.ts";
import type { WorldParts } from "../state/world-parts.ts";

/**
 * Every resource that listens to events, as the world's one listener. Whatever a listener has to do on the
 * network runs after the commit; `services` is asked for no sooner.
 */
export function eventListeners(
  owners: readonly { onEvents?: EventListener }[],
  services: () => Services,
): WorldParts["onEmit"] {
  const listeners = owners.flatMap(({ onEvents }) => onEvents ?? []);
  return (tx, events) => {
    const effects = listeners.flatMap((listen) => listen(tx, events) ?? []);
    if (effects.length === 0) return undefined;
    return async () => void (await Promise.all(effects.map((run) => run(services()))));
  };
}
