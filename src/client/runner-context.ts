// Names and ids of tests, from what the test runners give to a test.

/** How many tests of each file and name have run in this process. */
const runCounts = new Map<string, number>();

/**
 * An id that node:test's test has again in another process, where the runner retries it (`--test-rerun-failures`);
 * undefined for other runners, and in versions of Node without `filePath`.
 */
export function identifyByFile(context: unknown, name: string): string | undefined {
  const { filePath } = (context ?? {}) as { filePath?: unknown };
  if (typeof filePath !== "string") return undefined;
  const test = JSON.stringify([filePath, name]);
  const count = runCounts.get(test) ?? 0;
  runCounts.set(test, count + 1);
  return `${test} ${count}`;
}

/** Whether the body called `skip()` or `todo()` of its context, as in node:test and Vitest; the context does not say so. */
export function watchSkips(context: unknown): () => boolean {
  let skipped = false;
  const test = (context ?? {}) as Record<"skip" | "todo", unknown>;
  for (const method of ["skip", "todo"] as const) {
    const original = test[method];
    if (typeof original !== "function") continue;
    test[method] = (...args: unknown[]) => {
      // Vitest's `skip(false)` skips nothing.
      skipped ||= args[0] !== false;
      return original.apply(test, args);
    };
  }
  return () => skipped;
}

interface JestState {
  currentTestName?: string;
  /** The test that runs, of those that run at the same time. */
  currentConcurrentTestName?: () => string | undefined;
}

export const UNNAMED = "a test";

/**
 * The test's name, as Jest reports it, else of Mocha's `this`, node:test's context or Vitest's `task`: Jest passes the
 * values of `test.each`.
 */
export function getTestName(context: unknown, mochaContext: unknown): string {
  const { expect } = globalThis as { expect?: { getState?: () => JestState } };
  const { currentConcurrentTestName, currentTestName } = expect?.getState?.() ?? {};
  const { task = context } = (context ?? {}) as { task?: unknown };
  const { fullName, name } = (task ?? {}) as { fullName?: string; name?: string };
  const { test } = (mochaContext ?? {}) as { test?: { fullTitle?: () => string } };
  const jestName = currentConcurrentTestName?.() ?? currentTestName;
  return jestName ?? test?.fullTitle?.() ?? fullName ?? name ?? UNNAMED;
}
