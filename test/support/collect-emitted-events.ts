import type { Api } from "./harness.ts";

export interface Emitted {
  event: string;
  organization_id: string;
  data: Record<string, unknown>;
}

/** Collects what every transaction of the default sandbox emits from now on, those of timers included. */
export function collectEmittedEvents({ understudy }: Api): Emitted[] {
  const emitted: Emitted[] = [];
  const world = understudy.sandboxes.get("default")!.world as unknown as {
    parts: { onEmit: (tx: unknown, events: readonly Emitted[]) => unknown };
  };
  const { parts } = world;
  world.parts = {
    ...parts,
    onEmit: (tx, events) => {
      emitted.push(...events);
      return parts.onEmit(tx, events);
    },
  };
  return emitted;
}
