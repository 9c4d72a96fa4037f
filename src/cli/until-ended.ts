/** SIGHUP too: commands run in process groups of their own and would outlive a closed terminal. */
export const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Calls back at the first signal that ends the process. Register it before the process reports that it is up: a caller may
 * end it at once. Returns an undo.
 */
export function onEnding(end: () => void): () => void {
  const remove = () => {
    for (const signal of ENDINGS) process.off(signal, onSignal);
  };
  const onSignal = () => {
    remove();
    end();
  };
  for (const signal of ENDINGS) process.on(signal, onSignal);
  return remove;
}

/** Runs work with a signal that aborts when the process is to end, and waits for the work. */
export function untilEnded<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return listening("on", work);
}

/** The same for work that needs no cleanup: a second signal ends the process at once. */
export function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return listening("once", work);
}

/** Removes its listeners when the work is done. */
async function listening<T>(how: "on" | "once", work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const signal of ENDINGS) process[how](signal, interrupt);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of ENDINGS) process.off(signal, interrupt);
  }
}
