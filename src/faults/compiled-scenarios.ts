import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ScenarioDocument } from "./rule-schema.ts";
import { SHIPPED_SCENARIOS } from "./shipped.ts";

interface Compiled {
  sha256: string;
  value: ScenarioDocument;
}

let compiled: Readonly<Record<string, Compiled>> | undefined;

/**
 * What a shipped scenario says as the build has stored it, so that listing all of them parses no YAML and
 * checks nothing that the tests have checked. Undefined for other files, without a build, and as soon as the
 * file differs from what was built.
 */
export function compiledScenario(file: string, text: string): ScenarioDocument | undefined {
  if (dirname(file) !== SHIPPED_SCENARIOS) return undefined;
  compiled ??= readCompiled();
  const name = basename(file);
  const stored = Object.hasOwn(compiled, name) ? compiled[name] : undefined;
  if (stored === undefined) return undefined;
  return stored.sha256 === createHash("sha256").update(text).digest("hex") ? stored.value : undefined;
}

function readCompiled(): Readonly<Record<string, Compiled>> {
  try {
    return JSON.parse(readFileSync(join(SHIPPED_SCENARIOS, "..", "dist", "scenarios.json"), "utf8"));
  } catch {
    // Run from the sources, or somebody has taken it away: the files themselves say the same.
    return {};
  }
}
