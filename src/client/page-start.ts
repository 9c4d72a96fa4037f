import type { SandboxOptions, ScenarioName } from "./types.ts";

/** How a page's sandbox begins. */
export interface PageStart extends Pick<SandboxOptions, "fixture" | "seed" | "clock" | "settings"> {
  scenarios?: readonly ScenarioName[];
  /**
   * Stores the world in the browser under this name: it is there after a reload, and tabs of the same name share it.
   * The other options apply only when it begins.
   */
  persist?: string;
}

export const PAGE_START = ["fixture", "seed", "clock", "settings", "scenarios", "persist"];
