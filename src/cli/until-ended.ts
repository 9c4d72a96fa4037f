/** Also when the terminal is closed: commands that were started run in groups of their own and would stay. */
export const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Tells of the first signal to end; to be called before anybody is told that the process is up, who may end it at once. */
export function onEnding(end: () => void): void {
  const told = () => {
    for (const signal of ENDINGS) process.off(signal, told);
    end();
  };
  for (const signal of ENDINGS) process.on(signal, told);
}

/** Does what is to be told when the process is to end, by a signal that is aborted then. */
export async function untilEnded<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const signal of ENDINGS) process.on(signal, interrupt);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of ENDINGS) process.off(signal, interrupt);
  }
}
