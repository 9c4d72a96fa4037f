import { existsSync } from "node:fs";
import { UsageError } from "./failure.ts";

/** interfaces 2: the folder of the user's own, `./scenarios` where it exists. @throws UsageError */
export function ownScenarios(named?: string): string | undefined {
  if (named === undefined) return existsSync("scenarios") ? "scenarios" : undefined;
  if (!existsSync(named)) throw new UsageError(`--scenarios: there is no folder ${named}`);
  return named;
}
