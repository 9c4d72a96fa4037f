/** The steps of one object in a valid order; other objects do not change. */
export interface Lifecycle<Step> {
  steps: Step[];
  /** Lifecycles with the same key do not overlap in time. */
  key?: string;
}

/** The number of parallel lifecycles. */
const LANES = 4;
const MAX_STEPS = 12;

export interface LifecycleContext {
  /** The oldest position at which the lifecycle can begin. */
  oldest: number;
  /** The maximum number of its steps. */
  room: number;
  isFree: (key: string) => boolean;
}

/** Returns steps, newest first, from parallel lifecycles; each step is the next older one of its lifecycle. */
export function interleave<Step>(
  count: number,
  nextLife: (place: LifecycleContext) => Lifecycle<Step>,
): Step[] {
  const lanes: Lifecycle<Step>[] = Array.from({ length: LANES }, () => ({ steps: [] }));
  return Array.from({ length: count }, (_, position) => {
    const lane = position % LANES;
    if (lanes[lane]!.steps.length === 0) {
      lanes[lane] = nextLife({
        oldest: Math.min(count - 1, position + LANES * MAX_STEPS),
        room: Math.ceil((count - position) / LANES),
        isFree: (key) => lanes.every((life) => life.key !== key),
      });
    }
    return lanes[lane]!.steps.pop()!;
  });
}
