import { getHeapStatistics, setFlagsFromString } from "node:v8";

/** What V8 is asked and told. */
export interface Engine {
  getHeapStatistics(): { readonly used_heap_size: number };
  setFlagsFromString(flags: string): void;
}

/** How much V8's old generation may grow between two collections of it, in percent of what the last one left … */
const MAX_PERCENT = 300;
/** … and in bytes: who holds much should not have to find room for a multiple of it. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Tells of each collection of the whole heap: only that lets go of what nobody holds any more. */
const collected = new FinalizationRegistry((engine: Engine) => {
  allow(engine, growthPercent(engine.getHeapStatistics().used_heap_size));
  collected.register({}, engine);
});

/**
 * V8 lets a small heap grow by as little as a tenth, which under load means a marking of all of it each second or two;
 * what is asked while one goes on waits for several times as long. A limit that was set for the whole heap still holds.
 */
export function letHeapGrow(engine: Engine = { getHeapStatistics, setFlagsFromString }): void {
  allow(engine, MAX_PERCENT);
  collected.register({}, engine);
}

/** @param held bytes that the last collection left; returns what the next may find besides, in percent; 0: as V8 finds best */
export function growthPercent(held: number): number {
  const percent = Math.min(MAX_PERCENT, Math.ceil((100 * MAX_BYTES) / held));
  // A marking of much takes long, and V8 lets a large heap grow by more than that.
  return percent < 100 ? 0 : percent;
}

function allow(engine: Engine, percent: number): void {
  engine.setFlagsFromString(`--heap-growing-percent=${percent}`);
}
