/** A function whose first call starts something for all; after a failure the next call tries again. */
export function startOnce<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start().catch((error) => {
      started = undefined;
      throw error;
    });
    return started;
  };
}
