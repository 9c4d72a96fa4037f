/** Decoded images are large: so many are worked on at once, the others wait. */
const AT_ONCE = 2;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs `work` when it is its turn. @throws the signal's reason when the client left while waiting */
export async function withPermit<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    // The place goes to the next in line; nobody who comes now can take it first.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
