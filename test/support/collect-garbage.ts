import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage all the time while the work runs, as a long wait in a busy process would at some point. */
export async function withGarbageCollected<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const collecting = setInterval(collect, 5);
  try {
    return await work();
  } finally {
    clearInterval(collecting);
  }
}
