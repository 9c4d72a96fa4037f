import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, with about as many seconds; one that is not among them goes by its size. */
const SECONDS = JSON.parse(readFileSync(join(import.meta.dirname, "durations.json"), "utf8")) as Readonly<
  Record<string, number>
>;

/** Long files first, so that no core waits for another at the end; of the rest the larger ones. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weight = ({ moduleId }: TestSpecification) => {
      const seconds = SECONDS[relative(this.ctx.config.root, moduleId)] ?? 0;
      return seconds * 1e6 + statSync(moduleId).size;
    };
    return files.toSorted((a, b) => weight(b) - weight(a));
  }
}
