import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Seconds that the slowest files take. Other files are compared by size. */
const SECONDS = JSON.parse(readFileSync(join(import.meta.dirname, "durations.json"), "utf8")) as Readonly<
  Record<string, number>
>;

/** Runs slow files first, so that both cores finish at about the same time; the others by size. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const estimateSeconds = ({ moduleId }: TestSpecification) => {
      const seconds = SECONDS[relative(this.ctx.config.root, moduleId)] ?? 0;
      return seconds * 1e6 + statSync(moduleId).size;
    };
    return files.toSorted((a, b) => estimateSeconds(b) - estimateSeconds(a));
  }
}
