import type { CreateOptions } from "./create-understudy.ts";
import { WORLD_OPTIONS } from "./options.ts";

/** The options of a new sandbox; see `CreateOptions`. */
export type SandboxStart = Pick<
  CreateOptions,
  | ("fixture" | "seed" | "clock" | "settings" | "operations" | "openapi")
  | ("scenarios" | "scenariosFolder" | "delay")
>;

export const START_OPTIONS: readonly (keyof SandboxStart)[] = [
  ...WORLD_OPTIONS,
  "operations",
  "openapi",
  "scenarios",
  "scenariosFolder",
  "delay",
];
