import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test as base, expect, type RunnerTestCase, type TestAnnotation, type TestAttachment } from "vitest";
import { toPrintableLines, toShellWord } from "../engine/contract/text.ts";
import { BUNDLE_FILE, collectEvidence, type Evidence, formatJournal, SANDBOX_FILE } from "./evidence.ts";
import { type ReceivedMatchers, toHaveReceived } from "./received.ts";
import type { SandboxClient } from "./sandbox.ts";
import { runInSandbox, type TestOptions, TestServers } from "./test-sandbox.ts";

declare module "vitest" {
  // biome-ignore lint/suspicious/noExplicitAny: Vitest's declaration, which this one is merged with, has any
  interface Assertion<T = any> extends ReceivedMatchers {}
  interface ProvidedContext {
    /** The options of every test of a project, set by `provide` in its configuration. */
    understudy?: TestOptions;
  }
}

/** Maximum number of requests listed under the test; the attached journal has all. */
const MAX_LISTED = 20;
/** The type of annotations, by which reports tell them apart. */
const ANNOTATION_TYPE = "understudy";

const servers = new TestServers();

/**
 * `test` with a `sandbox` fixture (interfaces.md 8 and 13): a fresh sandbox per test, created as the fixture `understudy`
 * says. If the test fails, its journal is shown and its evidence attached. The test also fails if a rule was never
 * triggered.
 */
export const test = base.extend<{ understudy: TestOptions; sandbox: SandboxClient }>({
  understudy: [{}, { injected: true }],
  sandbox: async ({ task, understudy }, use) => {
    await runInSandbox(servers, understudy, {
      name: toFullName(task),
      id: task.id,
      run: use,
      // Hooks such as onTestFailed run too late: the sandbox and its journal are already deleted.
      outcome: () => {
        if (task.result?.state === "fail" && !task.fails) return "failed";
        // Vitest's types lack `pending`, which is the same in Vitest 3 to 5.
        return (task.result as { pending?: boolean } | undefined)?.pending ? "skipped" : "passed";
      },
      onFailure: (sandbox) => showEvidence(task, sandbox),
    });
  },
});

expect.extend({ toHaveReceived });

export type { TestOptions };
export { expect };

/** The test's name as in Vitest's own reports. */
function toFullName({ name, suite }: { name: string; suite?: RunnerTestCase["suite"] }): string {
  return suite === undefined ? name : toFullName({ name: `${suite.name} > ${name}`, suite: suite.suite });
}

/** Shown below the test in Vitest's reports: the last requests as text, everything else as files. */
async function showEvidence(task: Readonly<RunnerTestCase>, sandbox: SandboxClient): Promise<void> {
  const journal = toPrintableLines(await formatJournal(sandbox, MAX_LISTED));
  // Vitest before 3.2 has no annotations.
  if (task.context.annotate === undefined)
    return void process.stderr.write(`${toPrintableLines(toFullName(task))}\n${journal}\n`);
  const folder = mkdtempSync(join(tmpdir(), "understudy-evidence-"));
  try {
    const attached: string[] = [];
    for (const one of await collectEvidence(sandbox)) attached.push(await attach(task, folder, one));
    await annotate(task, [journal, ...attached].join("\n"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Vitest copies attachments to its own folder; resolves with a line that names the copy. */
async function attach(
  task: Readonly<RunnerTestCase>,
  folder: string,
  { file, contentType, body }: Evidence,
): Promise<string> {
  const path = join(folder, file);
  writeFileSync(path, body);
  const { attachment } = await annotate(task, file, { path, contentType });
  const copy = attachment?.path ?? file;
  const relativePath = relative(process.cwd(), copy);
  const shownPath = relativePath.startsWith("..") ? copy : relativePath;
  if (file === SANDBOX_FILE) return `understudy open ${toShellWord(shownPath)}`;
  return file === BUNDLE_FILE ? `understudy replay ${toShellWord(shownPath)}` : shownPath;
}

/**
 * Vitest accepts annotations only while a test runs, but a fixture learns later that it failed. The test must stay
 * failed.
 */
function annotate(
  { context, result }: Readonly<RunnerTestCase>,
  message: string,
  attachment?: TestAttachment,
): Promise<TestAnnotation> {
  const state = result?.state;
  if (result !== undefined) result.state = "run";
  const annotated = context.annotate(message, ANNOTATION_TYPE, attachment);
  if (result !== undefined && state !== undefined) result.state = state;
  return annotated;
}
