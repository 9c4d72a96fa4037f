import type { SandboxClient } from "../sandbox.ts";
import type { CoverageMatrix } from "../types.ts";
import type { SuiteCoverage } from "./suite-result.ts";

/** Adds up what sandboxes have seen that are gone before the suite ends. */
export class CoverageSum {
  private readonly seen = new Set<string>();
  private readonly all = new Set<string>();

  async add(sandbox: SandboxClient): Promise<void> {
    const { operations }: CoverageMatrix = await sandbox.coverage();
    for (const { operation, outcomes } of operations) {
      for (const { status, code, hits } of outcomes) {
        const outcome = `${operation} ${code ?? status}`;
        this.all.add(outcome);
        if (hits > 0) this.seen.add(outcome);
      }
    }
  }

  /** The percentage has one decimal, rounded down, so that only full coverage is called 100. */
  sum(): SuiteCoverage {
    const [covered, total] = [this.seen.size, this.all.size];
    return { percent: total === 0 ? 0 : Math.floor((covered / total) * 1000) / 10, covered, total };
  }
}

/** As terminal and reports say it. */
export function coverageText({ percent, covered, total }: SuiteCoverage): string {
  return `${covered} of ${total} documented outcomes (${percent} %)`;
}
