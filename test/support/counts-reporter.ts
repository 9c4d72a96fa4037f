import { relative } from "node:path";
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from "vitest/node";

/**
 * Test files that may be skipped while they run, with a reason: if there is no browser (scripts/browser.mjs), no
 * language, Redis or nginx (scripts/runtimes.mjs), or no permission to mount a small disk.
 */
export const NEEDS_TOOLS =
  /^test[\\/](browser[\\/]|docs[\\/]|field[\\/]|webhooks[\\/]receiver-test-table\.test\.ts|control[\\/](tls|failed-saves)\.test\.ts|hardening[\\/]outside\.test\.ts|cli[\\/]hostile-environment\.test\.ts|fleet[\\/]|own[\\/]saved-documents\.test\.ts)|^src[\\/]persistence[\\/](redis-store|store(-in-files)?)\.test\.ts/;

/**
 * Prints the counts of a run as its last line, which continuous integration reads. A skipped test counts as failed,
 * so that no test is skipped silently. The line before lists tests that need a tool which the machine lacks, with the
 * reason.
 */
export default class CountsReporter implements Reporter {
  private asked: RegExp | undefined;

  onInit({ config }: Vitest): void {
    this.asked = config.testNamePattern;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    const notRun = new Map<string, { reason: string; tests: number }>();
    for (const module of modules) {
      if (module.state() === "failed" && module.errors().length > 0) failed += 1;
      const file = relative(process.cwd(), module.moduleId);
      for (const test of module.children.allTests()) {
        // With `-t`, the tests that do not match are not meant to run.
        if (this.asked !== undefined && !this.asked.test(getFullName(test))) continue;
        const reason = NEEDS_TOOLS.test(file) ? getSkipReason(test) : undefined;
        if (reason !== undefined) notRun.set(file, { reason, tests: (notRun.get(file)?.tests ?? 0) + 1 });
        else if (test.result().state === "passed") passed += 1;
        else failed += 1;
      }
    }
    if (failed > 0 || passed === 0) process.exitCode = 1;
    // Print after the summaries of all other reporters.
    process.on("exit", () =>
      process.stdout.write(`\n${formatNotRun(notRun)}${passed} passed, ${failed} failed\n`),
    );
  }
}

/** Returns the name that `-t` compares. */
function getFullName({ name, parent }: TestCase | TestSuite): string {
  return parent.type === "module" ? name : `${getFullName(parent)} ${name}`;
}

/** Returns why a test was skipped while it ran; undefined if it ran or is marked `skip`. */
function getSkipReason(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === "skipped" ? result.note : undefined;
}

function formatNotRun(notRun: ReadonlyMap<string, { reason: string; tests: number }>): string {
  if (notRun.size === 0) return "";
  const files = [...notRun].map(([file, { tests }]) => `${file} (${tests})`).join(", ");
  const reasons = [...new Set([...notRun.values()].map(({ reason }) => reason))].join("; ");
  return `!!! NOT RUN: ${files}: ${reasons}\n`;
}
