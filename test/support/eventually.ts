import { vi } from "vitest";

/** Asks again until `check` holds: for what a server does in its own time, also on a busy machine. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 15_000, interval: 20 });
