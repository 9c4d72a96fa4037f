/** A log that can be followed. */
export interface FollowedLog<E> {
  readonly lastSequence: number;
  readonly isClosed: boolean;
  since(sequence: number): readonly E[];
  subscribe(listener: () => void): () => void;
}

/** Resolves when an entry is added, when a log is cleared or closed, or when the signal aborts. */
export function waitForChange(
  logs: readonly Pick<FollowedLog<never>, "isClosed" | "subscribe">[],
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || logs.some((log) => log.isClosed)) return resolve();
    const done = () => {
      for (const stop of stops) stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stops = logs.map((log) => log.subscribe(done));
    signal.addEventListener("abort", done, { once: true });
  });
}
