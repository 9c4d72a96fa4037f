/** The steps of one object in a valid order; they change no other object. */
export interface Lifecycle<Step> {
  /** The oldest first. */
  steps: Step[];
  /** Lifecycles with the same key do not overlap in time. */
  key?: string;
}

const PARALLEL_LIFECYCLES = 4;
/** At least as many steps as any lifecycle has. */
const LONGEST_LIFECYCLE = 12;

export interface LifecycleContext {
  /** The position at which the lifecycle can begin at the earliest. Positions count back in time: 0 is the newest step. */
  earliest: number;
  /** The number of positions that are left for its steps. */
  maxSteps: number;
  /** Whether no lifecycle with this key is in progress. */
  isFree: (key: string) => boolean;
}

/** Mixes the steps of parallel lifecycles, newest first. */
export function interleave<Step>(
  count: number,
  createLifecycle: (context: LifecycleContext) => Lifecycle<Step>,
): Step[] {
  const lanes: Lifecycle<Step>[] = Array.from({ length: PARALLEL_LIFECYCLES }, () => ({ steps: [] }));
  return Array.from({ length: count }, (_, position) => {
    const lane = position % PARALLEL_LIFECYCLES;
    if (lanes[lane]!.steps.length === 0) {
      lanes[lane] = createLifecycle({
        earliest: Math.min(count - 1, position + PARALLEL_LIFECYCLES * LONGEST_LIFECYCLE),
        maxSteps: Math.ceil((count - position) / PARALLEL_LIFECYCLES),
        isFree: (key) => lanes.every((other) => other.key !== key),
      });
    }
    return lanes[lane]!.steps.pop()!;
  });
}
