import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run on the line that continuous integration reads. A skipped test counts as failed: nothing is
 * skipped silently.
 */
export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    let passed = 0;
    let failed = errors.length;
    for (const module of modules) {
      if (module.state() === "failed" && module.errors().length > 0) failed += 1;
      for (const test of module.children.allTests()) {
        if (test.result().state === "passed") passed += 1;
        else failed += 1;
      }
    }
    if (failed > 0 || passed === 0) process.exitCode = 1;
    // After the other reporters' summaries, whatever order they run in.
    process.on("exit", () => process.stdout.write(`\n${passed} passed, ${failed} failed\n`));
  }
}
