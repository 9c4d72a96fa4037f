import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { writeJunit } from "../../src/tools/reports/junit.ts";
import { requireRuntime } from "../support/real-clients.ts";
import { createTempFolder, runCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

vi.setConfig({ testTimeout: 60_000 });

const SCHEMA = fileURLToPath(new URL("junit.xsd", import.meta.url));
const api = useReference();

/** The result of xmllint; `-` reads `text`, any other path is a file. */
function validate(path: string, text = ""): { valid: boolean; said: string } {
  const args = ["--noout", "--schema", SCHEMA, path];
  const { status, stderr } = spawnSync("xmllint", args, { input: text, encoding: "utf8" });
  return { valid: status === 0, said: stderr };
}

describe("a JUnit report [interfaces 13]", () => {
  beforeEach((test) => requireRuntime(test, "xmllint"));

  it("fits the schema of Jenkins' xUnit plugin for every kind of case and suite [interfaces 13]", () => {
    const one = { name: "case", classname: "suite", time_seconds: 0.5, system_out: "printed <&>" };
    const problem = { message: "m", detail: "d" };
    const cases = [one, { ...one, failure: problem }, { ...one, error: problem }, { ...one, skipped: "why" }];
    const properties = [{ name: "coverage", value: "7 percent" }];
    const xml = writeJunit({ name: "all", suites: [{ name: "one", properties, cases }] });
    expect(validate("-", xml)).toMatchObject({ valid: true });
    expect(validate("-", xml.replace("<testcase ", '<testcase skipped="1" ')).said).toMatch(/skipped/);
  });

  it.each([
    [
      "a suite whose faults are never triggered",
      ["suite", "slow-network", "models-list-rate-limited", "--", "true"],
    ],
    ["verify", ["verify", "--target", "URL", "--key", "ak_adaOwnerAcme000000000000000000000000000"]],
    [
      "a receiver test of a port where nothing listens",
      ["receiver-test", "http://127.0.0.1:9/hook", "--secret", "whsec_x"],
    ],
  ])("of %s fits the schema of Jenkins' xUnit plugin [interfaces 13]", async (_what, command) => {
    const cwd = createTempFolder();
    const args = command.map((one) => (one === "URL" ? api.url : one));
    const end = args.indexOf("--");
    args.splice(end < 0 ? args.length : end, 0, "--report", "junit=report.xml");
    const { stderr } = await runCommand(args, { cwd });
    expect(validate(join(cwd, "report.xml")), stderr).toMatchObject({ valid: true });
  });
});
