/** Also when the terminal is closed: commands that were started run in groups of their own and would stay. */
export const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Tells of the first signal to end; to be called before anybody is told that the process is up, who may end it at once.
 * Returns what takes it back.
 */
export function onEnding(end: () => void): () => void {
  const noLonger = () => {
    for (const signal of ENDINGS) process.off(signal, told);
  };
  const told = () => {
    noLonger();
    end();
  };
  for (const signal of ENDINGS) process.on(signal, told);
  return noLonger;
}

/** Does what is to be told when the process is to end, by a signal that is aborted then, and is waited for. */
export function untilEnded<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return listening("on", work);
}

/** The same for what leaves nothing behind: a second signal does not wait for it. */
export function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return listening("once", work);
}

/** Listens no longer than the work takes: whoever runs one command after the other would gather listeners. */
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
