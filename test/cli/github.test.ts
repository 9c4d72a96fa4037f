import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toAnnotations, toSummary } from "../../src/tools/reports/github.ts";
import { KEYS } from "../support/harness.ts";
import { createTempFolder, runCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";
import { startRecordingServer } from "../support/verify-setup.ts";

const api = useReference();

const BUSY =
  "name: busy\ndescription: Busy.\nrules:\n  - match: {operation: models.list}\n    effect: {status: 503}\n";

/** Runs a command as in a job of GitHub Actions. Returns its exit code, the annotations and the summary of the job. */
async function runInJob(...args: string[]) {
  const cwd = createTempFolder();
  const summary = join(cwd, "summary.md");
  writeFileSync(join(cwd, "busy.yaml"), BUSY);
  writeFileSync(summary, "");
  const env = { GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: cwd, GITHUB_STEP_SUMMARY: summary };
  const { code, stdout, stderr } = await runCommand(args, { cwd, env });
  const annotations = stderr.split("\n").filter((line) => line.startsWith("::"));
  return { code, stdout, annotations, summary: readFileSync(summary, "utf8") };
}

describe("annotations of a job of GitHub Actions", () => {
  it("show a suite's failure at the scenario's file, and leave standard output to programs [interfaces 13]", async () => {
    const { code, stdout, annotations, summary } = await runInJob(
      "suite",
      "busy.yaml",
      "--json",
      "--",
      "true",
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ failed: 1 });
    expect(annotations).toEqual([
      expect.stringMatching(
        /^::error file=busy\.yaml,title=understudy suite%3A busy::the rule rule-1 was never triggered$/,
      ),
    ]);
    expect(summary).toMatch(
      /^<h3>understudy suite: 0 passed, 1 failed<\/h3>\n<details><summary><b>busy<\/b>: the rule/,
    );
  });

  it("show failures of verify and receiver-test, and nothing if all passed [interfaces 13]", async () => {
    const target = await startRecordingServer((_request, response) => response.writeHead(500).end("broken"));
    const wrong = await runInJob("verify", "--target", target.url, "--key", KEYS.ben);
    expect(wrong.code).toBe(1);
    expect(wrong.annotations.length).toBeGreaterThan(0);
    expect(wrong.annotations[0]).toMatch(/^::error title=understudy verify http%3A/);
    const graded = await runInJob(
      "receiver-test",
      target.url,
      "--secret",
      "whsec_x",
      "--only",
      "valid-accepted",
    );
    expect(graded.annotations[0]).toMatch(/^::error title=receiver-test%3A valid-accepted%3A /);
    expect(graded.summary).toContain("<h3>receiver-test: 0 passed, 1 failed</h3>");
    await target.close();
    const right = await runInJob("verify", "--target", api.url, "--key", KEYS.ben);
    expect([right.code, right.annotations]).toEqual([0, []]);
    expect(right.summary).toMatch(/^<h3>understudy verify [^<]+ passed, 0 failed, \d+ skipped<\/h3>\n$/);
  });

  it("escape foreign names and texts, and are bounded in number and size [interfaces 13]", () => {
    const problem = { message: "50%\n::set-env name=A::b", detail: "</pre><script>".repeat(10_000) };
    const one = {
      name: "a: <b>, c",
      classname: "x",
      time_seconds: 0,
      failure: problem,
      file: "/etc/hostname",
    };
    const report = { name: "suite", suites: [{ name: "s", cases: Array.from({ length: 100 }, () => one) }] };
    const annotations = toAnnotations(report, "/work");
    expect(annotations).toHaveLength(10);
    expect(annotations[0]).toBe("::error title=suite%3A a%3A <b>%2C c::50%25%0A::set-env name=A::b");
    const summary = toSummary(report);
    expect(summary).not.toMatch(/<script|<b>, c/);
    expect(summary).toMatch(/<p>9\d more failed; --report html=FILE has them\.<\/p>\n$/);
    expect(summary.length).toBeLessThan(1024 * 1024);
  });

  it("show a failure with blank lines as one block, since Markdown would start again after a blank line [interfaces 13]", () => {
    const failure = { message: "differs:\n\n* a", detail: "before\n\n    * a\n_b_" };
    const one = { name: "a", classname: "x", time_seconds: 0, failure };
    expect(toSummary({ name: "suite", suites: [{ name: "s", cases: [one] }] })).toContain(
      "\n<details><summary><b>a</b>: differs: * a</summary>\n\n<pre>before\n\n    * a\n_b_</pre>\n\n</details>\n",
    );
  });
});
