import { vi } from "vitest";
import { platform, providePlatform } from "../../src/engine/platform.ts";

/** Fake timers for the engine too, which does not use the global ones. @returns what puts the real ones back */
export function fakeEngineTimers(): () => void {
  vi.useFakeTimers();
  const real = platform();
  providePlatform({ ...real, timers: { setTimeout, clearTimeout, now: () => Date.now() } });
  return () => {
    vi.useRealTimers();
    providePlatform(real);
  };
}
