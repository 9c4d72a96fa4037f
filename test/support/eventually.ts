import { vi } from "vitest";

/** Asks again until `check` holds: for what a server does in its own time, also on a busy machine. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 15_000, interval: 20 });

/** The same for what is only waited for; a minute is more than any busy machine takes. */
export const until = (holds: () => unknown): Promise<void> =>
  vi.waitFor(
    async () => {
      if (!(await holds())) throw new Error(`it has not come about: ${holds}`);
    },
    { timeout: 15_000, interval: 5 },
  );
