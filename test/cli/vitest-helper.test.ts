import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

interface Report {
  testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
}

it("interfaces 8 understudy/vitest gives a sandbox per test, shows the journal of a failing one, and fails one whose fault never struck", () => {
  const root = fileURLToPath(new URL("../support/vitest-helper", import.meta.url));
  const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, "run"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, VITEST: "", UNDERSTUDY_URL: "" },
  });
  expect(status).toBe(1);
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"num'))) as Report;
  const results = report.testResults[0]!.assertionResults;
  expect(results.map(({ title, status: outcome }) => [title, outcome])).toEqual([
    ["meets its fault", "passed"],
    ["arms in vain", "failed"],
    ["fails by itself", "failed"],
  ]);
  const [, vain, own] = results.map(({ failureMessages }) => failureMessages.join("\n"));
  expect(vain).toContain('armed but never struck: fault_1 {"operation":"threads.delete"}');
  expect(vain).toContain("GET /v1/models -> 200");
  expect(own).toContain("418");
  expect(stderr).toMatch(/Journal of sandbox [^\n]+newest first:\n[^\n]+GET \/v1\/models -> 200/);
}, 60_000);
