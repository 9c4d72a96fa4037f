import { vi } from "vitest";

/** Repeats `check` until it passes, for effects that the server has later. A busy machine may take long. */
export const waitUntilPasses = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 15_000, interval: 20 });

/** Repeats `holds` until it is true. The timeout is longer than any busy machine needs, and shorter than a test's. */
export const waitUntil = (holds: () => unknown): Promise<void> =>
  vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error(`it has not come about: ${holds}`);
    },
    { timeout: 50_000, interval: 5 },
  );
