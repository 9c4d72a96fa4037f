import { vi } from "vitest";

/** Longer than any busy machine needs, and shorter than a test's limit (vitest.config.ts). */
const LIMIT_MS = 50_000;

/** Repeats `check` until it passes, for effects that the server has later. */
export const waitUntilPasses = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: LIMIT_MS, interval: 20 });

/** Repeats `holds` until it is true. */
export const waitUntil = (holds: () => unknown): Promise<void> =>
  vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error(`it has not come about: ${holds}`);
    },
    { timeout: LIMIT_MS, interval: 5 },
  );
