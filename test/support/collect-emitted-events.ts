import type { Api } from "./harness.ts";

export interface Emitted {
  event: string;
  organization_id: string;
  data: Record<string, unknown>;
}

/** Collects the events that transactions of the default sandbox emit from now on, including those of timers. */
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
