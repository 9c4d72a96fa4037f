import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { RUNNERS } from "../../matrix/runners.mjs";
import { hasRuntime } from "../../scripts/runtimes.mjs";
import { createExampleProject, type ExampleProject } from "../support/docs/example-project.ts";
import { ROOT } from "../support/docs/pages.ts";
import { hasCurl } from "../support/docs/tool-stubs.ts";
import { removeTempFolders } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/*
 * Files for pytest and JUnit 5 that users copy, with failing tests; the guide for testers runs passing ones. There,
 * pytest and JUnit start a server; here they use a running one.
 */

const LIMIT_MS = 240_000;
const EXAMPLES = join(ROOT, "docs", "examples");
let project: ExampleProject | undefined;
afterEach(() => project?.close());
afterAll(removeTempFolders);

it("the versions on the page about test runners are those that the matrix runs [interfaces 13]", () => {
  const page = readFileSync(join(ROOT, "docs/helpers.md"), "utf8");
  const table = page.slice(page.indexOf("| tool |"), page.indexOf("\n\n", page.indexOf("| tool |")));
  const run = new Set(
    Object.values(RUNNERS).flatMap(({ packages }) =>
      ["vitest", "@playwright/test", "jest", "msw"].flatMap((name) => packages[name] ?? []),
    ),
  );
  expect(new Set(table.match(/\d+\.\d+\.\d+/g))).toEqual(run);
});

const PYTHON = `import urllib.request
def test_wrong(sandbox):
    headers = {"api-key": sandbox.credentials["usr_dan"]}
    urllib.request.urlopen(urllib.request.Request(sandbox.url + "/v1/models", headers=headers))
    assert sandbox.name == "another"
def test_in_vain(sandbox):
    sandbox.fault({"operation": "models.list"}, effect={"status": 503})
def test_misspelt(sandbox):
    sandbox.fault({"operation": "model.list"}, effect={"status": 503})
def test_not_called(sandbox):
    sandbox.assert_received(operation="models.list")
def test_deletes_its_sandbox(sandbox):
    sandbox.control("DELETE")
def test_deletes_its_sandbox_and_fails(sandbox):
    sandbox.control("DELETE")
    assert sandbox.name == "a third"
`;

const JAVA = `import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
@ExtendWith(UnderstudyExtension.class)
class FailingTest {
  @Test void inVain(UnderstudyExtension.Sandbox sandbox) {
    sandbox.fault("{\\"match\\": {\\"operation\\": \\"models.list\\"}, \\"effect\\": {\\"status\\": 503}}");
  }
  @Test void misspelt(UnderstudyExtension.Sandbox sandbox) {
    sandbox.fault("{\\"match\\": {\\"operation\\": \\"model.list\\"}, \\"effect\\": {\\"status\\": 503}}");
  }
  @Test void notCalled(UnderstudyExtension.Sandbox sandbox) {
    sandbox.assertReceived("{\\"operation\\": \\"models.list\\"}", "1");
  }
  @Test void deletesItsSandbox(UnderstudyExtension.Sandbox sandbox) {
    sandbox.control("DELETE", "", null);
  }
  @Test void deletesItsSandboxAndFails(UnderstudyExtension.Sandbox sandbox) {
    sandbox.control("DELETE", "", null);
    throw new AssertionError("a third");
  }
}
`;

const NODE = `import { after, test } from "node:test";
import { testSandboxes } from "understudy-sandbox";
const sandboxes = testSandboxes();
after(() => sandboxes.close());
test("unused", sandboxes.with((sandbox) => sandbox.faults.add({ match: { operation: "models.list" }, effect: { status: 503 } })));
test("wrong", sandboxes.with(async (sandbox) => {
  await fetch(sandbox.url + "/v1/models");
  throw new Error("another");
}));
test("frozen", sandboxes.with(async (sandbox) => {
  if ((await sandbox.clock.show()).now !== "2020-02-29T12:00:00.000Z") throw new Error("late");
}, { clock: { mode: "frozen", now: "2020-02-29T12:00:00.000Z" } }));
test("misspelt", sandboxes.with(() => {}, { clock: { mode: "freezed" } }));
try { testSandboxes({ sead: 7 }); } catch (error) { console.log("# " + error.message); }
`;

describe("files to copy for other runners [interfaces 13]", () => {
  it("plain functions check a test of node:test as the fixtures do [interfaces 13]", {
    timeout: LIMIT_MS,
  }, async () => {
    project = await createExampleProject();
    writeFileSync(join(project.folder, "failing.test.mjs"), NODE);
    const { code, stdout, stderr } = await project.run("node --test --test-reporter tap failing.test.mjs");
    expect(code).toBe(1);
    const said = stdout + stderr;
    expect(said).toMatch(
      /not ok \d+ - unused[\s\S]*armed but never triggered: fault_1 \{"operation":"models.list"\}/,
    );
    expect(said).toMatch(
      /wrong\n(# )?Journal of sandbox [\s\S]*GET \/v1\/models -> 401 AUTHENTICATION_REQUIRED \(auth\)/,
    );
    expect(said).toMatch(/ok \d+ - frozen/);
    expect(said).toMatch(/not ok \d+ - misspelt/);
    expect(said).toContain('understudy has no option "sead"; its options are fixture, seed, clock');
  });

  it("the example for Jest passes, and fails a test whose faults were never triggered [interfaces 13]", {
    timeout: LIMIT_MS,
  }, async ({ skip }) => {
    if (!hasCurl()) skip("curl is not installed");
    project = await createExampleProject();
    for (const file of ["models.test.mjs", "jest.config.mjs"])
      cpSync(join(EXAMPLES, "jest", file), join(project.folder, file));
    writeFileSync(
      join(project.folder, "failing.test.mjs"),
      NODE.replace(/^.*node:test.*$/m, "const after = afterAll;"),
    );
    const command = "NODE_OPTIONS=--experimental-vm-modules npx jest";
    const { code, stderr } = await project.run(command, { jest: 1 });
    expect(code).toBe(0);
    expect(stderr).toContain("PASS ./models.test.mjs");
    expect(stderr).toMatch(/armed but never triggered: fault_1 \{"operation":"models.list"\}/);
    expect(stderr).toContain("3 failed, 2 passed");
  });

  it("conftest.py fails a test whose faults were never triggered, and shows the journal [interfaces 13]", {
    timeout: LIMIT_MS,
  }, async ({ skip }) => {
    if (!hasRuntime("python3 -c 'import pytest'")) skip("pytest is not installed");
    project = await createExampleProject();
    cpSync(join(EXAMPLES, "pytest/conftest.py"), join(project.folder, "conftest.py"));
    writeFileSync(join(project.folder, "test_failing.py"), PYTHON);
    const url = await project.startDefaultServer();
    const command = `UNDERSTUDY_URL=${url} python3 -m pytest -q -p no:cacheprovider test_failing.py`;
    const { code, stdout } = await project.run(command);
    expect(code).toBe(1);
    expect(stdout).toMatch(/armed but never triggered: \[\{'operation': 'models.list'\}\]/);
    expect(stdout).toMatch(/Journal of the sandbox, newest first -*\n.*GET \/v1\/models -> 200 \(ok\)/);
    expect(stdout).toContain('"model.list" is not an operation (did you mean "models.list"?)');
    expect(stdout).toMatch(/0 requests match \{'operation': 'models.list'\}/);
    expect(stdout).toContain("4 failed, 2 passed, 1 error");
    const sandbox = `${url}/_control/sandboxes/default`;
    const inSuite = await project.run(`UNDERSTUDY_CONTROL_URL=${sandbox} ${command} -k in_vain`);
    expect(inSuite.stdout).toMatch(/armed but never triggered: \[\{'operation': 'models.list'\}\]/);
    expect((await fetch(sandbox)).status, "the suite's sandbox stays").toBe(200);
    expect(project.calls).toEqual([]);
  });

  it("UnderstudyExtension.java fails a test whose faults were never triggered [interfaces 13]", {
    timeout: LIMIT_MS,
  }, async ({ skip }) => {
    if (!hasRuntime("javac and JUnit 5")) skip("javac and JUnit 5 are not installed");
    if (!hasCurl()) skip("curl is not installed");
    project = await createExampleProject();
    const sources = join(project.folder, "src/test/java");
    mkdirSync(sources, { recursive: true });
    cpSync(join(EXAMPLES, "junit5/UnderstudyExtension.java"), join(sources, "UnderstudyExtension.java"));
    writeFileSync(join(sources, "FailingTest.java"), JAVA);
    const { code, stdout } = await project.run(
      `UNDERSTUDY_URL=${await project.startDefaultServer()} mvn test`,
      {
        test: 1,
      },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/armed but never triggered: .*"operation":"models.list"/);
    expect(stdout).toContain('did you mean \\"models.list\\"?');
    expect(stdout).toContain("not received as often as 1");
    expect(stdout).toContain("4 tests failed");
    expect(project.calls).toEqual(["mvn test"]);
  });
});
