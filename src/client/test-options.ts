import { existsSync } from "node:fs";
import type { ClockChange, FixtureInput, ScenarioName, SettingsChange } from "./types.ts";

/** The world that a test begins with (interfaces 13), by `test.use`, `test.extend` or the runner's configuration. */
export interface TestOptions {
  /** The name of a fixture, one of `./fixtures` too, or a fixture itself. */
  fixture?: FixtureInput;
  seed?: number;
  /** Where the sandbox's clock begins, also in the past: `{ mode: "frozen", now: "2020-02-29T12:00:00Z" }`. */
  clock?: ClockChange;
  settings?: SettingsChange;
  /** In force from the start; in a suite beside the suite's own. */
  scenarios?: readonly ScenarioName[];
  /** Your own scenarios, `./scenarios` unless given; of a server that `UNDERSTUDY_URL` names, its `--scenarios`. */
  scenariosFolder?: string;
  /** Rules that never struck, or less often than their `times` say, do not fail the test. */
  allowUnstruck?: boolean;
}

const KEYS: Readonly<Record<keyof TestOptions, true>> = {
  fixture: true,
  seed: true,
  clock: true,
  settings: true,
  scenarios: true,
  scenariosFolder: true,
  allowUnstruck: true,
};

/**
 * Checks options at run time, for tests without a compiler; the server checks their values.
 * @throws TypeError
 */
export function checkTestOptions(options: unknown): TestOptions {
  const known = Object.keys(KEYS).join(", ");
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(
      `understudy takes its options as an object of ${known}; it was given ${shown(options)}`,
    );
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(KEYS, key)) continue;
    throw new TypeError(`understudy has no option ${JSON.stringify(key)}; its options are ${known}`);
  }
  const { scenarios, scenariosFolder, allowUnstruck } = options as Record<string, unknown>;
  if (scenarios !== undefined && !Array.isArray(scenarios))
    throw new TypeError(`understudy's option scenarios is a list of names; it was given ${shown(scenarios)}`);
  if (allowUnstruck !== undefined && typeof allowUnstruck !== "boolean")
    throw new TypeError(
      `understudy's option allowUnstruck is true or false; it was given ${shown(allowUnstruck)}`,
    );
  if (scenariosFolder !== undefined && !(typeof scenariosFolder === "string" && existsSync(scenariosFolder)))
    throw new TypeError(`understudy's option scenariosFolder: there is no folder ${shown(scenariosFolder)}`);
  return options;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}
