import { vi } from "vitest";
import { platform, providePlatform } from "../../src/engine/platform.ts";

/** Fakes the engine's timers, which are not the global ones. @returns a function that restores the real timers */
export function replaceEngineTimers(): () => void {
  vi.useFakeTimers();
  const real = platform();
  providePlatform({ ...real, timers: { setTimeout, clearTimeout, now: () => Date.now() } });
  return () => {
    vi.useRealTimers();
    providePlatform(real);
  };
}
