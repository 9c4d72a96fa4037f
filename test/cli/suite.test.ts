import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { startReference } from "../support/harness.ts";
import { createTempFolder, runCommand, startCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const EXAMPLE = fileURLToPath(new URL("../../docs/examples/report-uploader/", import.meta.url));
const CHECK = ["--", process.execPath, join(EXAMPLE, "check.mjs")];

const api = useReference();

/** A folder with scenario files and a script for the runs. */
function writeScenarios(files: Record<string, string>) {
  const cwd = createTempFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return cwd;
}

const CALM = "name: calm\nrules: []\n";
/** Most commands are shell commands, which start quickly. */
const CALL = 'curl -s -H "api-key: ak_danMemberAcme00000000000000000000000000"';
const UNTRIGGERED =
  "name: untriggered\nrules:\n  - id: never\n    match: { operation: threads.delete }\n    effect: { error: INSUFFICIENT_PERMISSIONS }\n";

describe("suite", () => {
  it("runs the example application once per scenario and reports each [interfaces 2]", async () => {
    const cwd = createTempFolder();
    const reports = "junit=out/junit.xml,html=out/report.html";
    const { code, stdout, stderr } = await runCommand(
      ["suite", `${EXAMPLE}scenarios/*.yaml`, "--jobs", "3", "--report", reports, ...CHECK],
      { cwd },
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining("ok   lost-answer")]);
    expect(stdout).toContain("5 passed, 0 failed");
    expect(stdout).toMatch(/ok {2}lost-answer +0 +1\/1 +1\/1 +4/);
    const junit = readFileSync(join(cwd, "out/junit.xml"), "utf8");
    expect(junit.match(/<testcase /g)).toHaveLength(5);
    expect(junit).toContain('tests="5" failures="0"');
    expect(readFileSync(join(cwd, "out/report.html"), "utf8")).toContain("All 5 scenarios passed");
  });

  it("accepts shipped scenarios by name, and prefers the user's own [interfaces 2]", async () => {
    const cwd = createTempFolder();
    mkdirSync(join(cwd, "scenarios"));
    writeFileSync(join(cwd, "scenarios/models-list-signed-out.yaml"), "rules: []\n");
    const { code, stdout } = await runCommand(
      ["suite", "models-list-{rate-limited,signed-out}", "--json", "--", "true"],
      { cwd },
    );
    const { scenarios } = JSON.parse(stdout);
    expect([code, scenarios.map(({ name, outcome }: Record<string, string>) => [name, outcome])]).toEqual([
      1,
      [
        ["models-list-signed-out", "passed"],
        ["models-list-rate-limited", "failed"],
      ],
    ]);
    const unknown = await runCommand(["suite", "models-lst", "--", "true"], { cwd });
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining("no scenario and no file is called models-lst"),
    ]);
  });

  it("scenario show prints a file to copy, and suggests the nearest name for a misspelt one [interfaces 2]", async () => {
    const shown = await runCommand(["scenario", "show", "slow-network"]);
    expect(shown).toMatchObject({
      code: 0,
      stdout: readFileSync(new URL("../../scenarios/slow-network.yaml", import.meta.url), "utf8"),
    });
    const refused = await runCommand(["scenario", "show", "slow-netwrk"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('mean "slow-network"')]);
  });

  it("fails if the application does, with its journal and a bundle that replays [interfaces 2]", async () => {
    const cwd = createTempFolder();
    const broken = readFileSync(join(EXAMPLE, "upload-report.mjs"), "utf8").replace(
      /const PAUSES = .*/,
      "const PAUSES = [];",
    );
    expect(broken).toContain("const PAUSES = [];");
    for (const name of ["check.mjs", "report.csv"])
      writeFileSync(join(cwd, name), readFileSync(join(EXAMPLE, name)));
    writeFileSync(join(cwd, "upload-report.mjs"), broken);
    const scenarios = ["calm", "broken-upload"].map((name) => `${EXAMPLE}scenarios/${name}.yaml`);
    const { code, stdout } = await runCommand(
      [
        "suite",
        ...scenarios,
        "--report",
        "junit=j.xml",
        "--report",
        "html=r.html",
        "--json",
        "--",
        process.execPath,
        "check.mjs",
      ],
      { cwd },
    );
    expect(code).toBe(1);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ ok: false, total: 2, passed: 1, failed: 1 });
    expect(result.scenarios[1]).toMatchObject({ name: "broken-upload", outcome: "failed", exit_code: 1 });
    expect(result.scenarios[1].failures.join()).toContain("found 0");
    expect(result.scenarios[1].output).toContain("gave up");
    expect(readFileSync(join(cwd, "j.xml"), "utf8")).toContain("PUT /upload/");
    const html = readFileSync(join(cwd, "r.html"), "utf8");
    expect(html).not.toMatch(/<script|https?:\/\/(?!127\.0\.0\.1)/);
    const [, inline] = /base64,([^"]+)"/.exec(html)!;
    writeFileSync(join(cwd, "b.json"), Buffer.from(inline!, "base64"));
    expect(await runCommand(["replay", "b.json"], { cwd })).toMatchObject({ code: 0 });
  });

  it("gives each run its own sandbox by the environment, and leaves none behind [interfaces 2]", async () => {
    const token = "token-of-the-whole-team";
    const { url, close } = await startReference({ shared: { token } });
    const cwd = writeScenarios({ "a.yaml": CALM, "b.yaml": UNTRIGGERED.replace("untriggered", "other") });
    const { stdout } = await runCommand(
      [
        ...["suite", "a.yaml", "b.yaml", "--url", url, "--token", token, "--json"],
        ...["--", "sh", "-c", "env | grep ^UNDERSTUDY_"],
      ],
      { cwd },
    );
    const [first, second] = JSON.parse(stdout).scenarios;
    const readEnvironment = (output: string) =>
      Object.fromEntries(
        output
          .trim()
          .split("\n")
          .map((line) => line.split(/=(.*)/s)),
      );
    const { UNDERSTUDY_SANDBOX: name, ...rest } = readEnvironment(first.output);
    expect(rest).toEqual({
      UNDERSTUDY_BASE_URL: `${url}/_s/${name}`,
      UNDERSTUDY_SUITE_FILE: expect.stringMatching(/suite\.json$/),
      UNDERSTUDY_CONTROL_URL: `${url}/_control/sandboxes/${name}`,
      UNDERSTUDY_SCENARIO: "calm",
      UNDERSTUDY_URL: url,
      UNDERSTUDY_TOKEN: token,
    });
    expect(readEnvironment(second.output)["UNDERSTUDY_SANDBOX"]).not.toBe(name);
    const headers = { authorization: `Bearer ${token}` };
    expect(await (await fetch(`${url}/_control/sandboxes`, { headers })).json()).toMatchObject({
      total: 1,
    });
    await close();
  });

  it("fails on a rule that was never triggered, but not on one that is off [interfaces 2]", async () => {
    const cwd = writeScenarios({
      "a.yaml": UNTRIGGERED,
      "b.yaml": UNTRIGGERED.replace("untriggered", "off").replace(
        "  - id: never",
        "  - id: never\n    probability: 0",
      ),
    });
    const { code, stdout } = await runCommand(["suite", "*.yaml", "--json", "--", "true"], { cwd });
    expect(code).toBe(1);
    const { scenarios } = JSON.parse(stdout);
    expect(scenarios[0].failures).toEqual(["the rule never was never triggered"]);
    expect(scenarios[1]).toMatchObject({ name: "off", outcome: "passed" });
  });

  it("fails if a reset removed the rules of its scenario before they triggered [interfaces 2]", async () => {
    const cwd = writeScenarios({ "a.yaml": UNTRIGGERED });
    const reset = 'curl -s -X POST "$UNDERSTUDY_CONTROL_URL/reset"';
    const args = ["suite", "a.yaml", "--json", "--url", api.url, "--", "sh", "-c", reset];
    const { code, stdout } = await runCommand(args, { cwd });
    expect(code).toBe(1);
    expect(JSON.parse(stdout).scenarios[0].failures).toEqual(["the rule never was never triggered"]);
  });

  it("reports why each request of a failed run was answered as it was, in plain text [interfaces 2]", async () => {
    const cwd = writeScenarios({ "a.yaml": UNTRIGGERED });
    const red = `${CALL} -o /dev/null -X DELETE "$UNDERSTUDY_BASE_URL/v1/threads/thread_long"; printf '\\033[31mred\\033[0m\\n'; exit 3`;
    const report = ["--report", "junit=j.xml,html=h.html"];
    await runCommand(["suite", "a.yaml", ...report, "--", "sh", "-c", red], { cwd });
    const html = readFileSync(join(cwd, "h.html"), "utf8");
    expect(html).toContain(
      "fault:untriggered/never<br><small>untriggered/never triggered: it triggers on every call",
    );
    expect(html).toContain('<pre tabindex="0">red\n</pre>');
    expect(readFileSync(join(cwd, "j.xml"), "utf8")).toContain("<system-out>red\n");
  });

  it("checks the expectations of a scenario against the journal, and shows the nearest request [interfaces 6]", async () => {
    const expectations = [
      "- { match: { operation: models.list }, count: 1 }",
      "- { match: { operation: threads.delete }, count: 0 }",
      "- { match: { operation: models.list, status: 404 } }",
      "- { match: { method: GET }, count: { min: 2, max: 3 } }",
    ];
    const cwd = writeScenarios({
      "a.yaml": `${CALM}expect:\n${expectations.map((line) => `  ${line}\n`).join("")}`,
    });
    const get = `${CALL} "$UNDERSTUDY_BASE_URL/v1/models"`;
    const { code, stdout } = await runCommand(["suite", "a.yaml", "--json", "--", "sh", "-c", get], { cwd });
    expect(code).toBe(1);
    const [{ expectations: checked, failures }] = JSON.parse(stdout).scenarios;
    expect(checked.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, true, false, false]);
    expect(failures[0]).toContain("nearest: GET /v1/models -> 200 (status is 200, not 404)");
    expect(failures[1]).toContain("2 to 3");
  });

  it("shows the output of a failed command, and stops one that takes too long [interfaces 2]", async () => {
    const cwd = writeScenarios({ "a.yaml": CALM });
    const failed = await runCommand(["suite", "a.yaml", "--", "sh", "-c", "echo it broke >&2; exit 7"], {
      cwd,
    });
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain("| it broke");
    expect(failed.stdout).toContain("the command exited with 7");
    const slow = await runCommand(["suite", "a.yaml", "--timeout", "0.3", "--", "sleep", "1000"], { cwd });
    expect(slow.code).toBe(1);
    expect(slow.stdout).toContain("did not end within 0.3 s");
    // setTimeout would run at once with this value.
    const patient = await runCommand(["suite", "a.yaml", "--timeout", "9999999", "--", "sleep", "0.3"], {
      cwd,
    });
    expect(patient.stdout).not.toContain("did not end");
  });

  it("lists the scenarios that did not run as skipped after an interruption [interfaces 2]", async () => {
    const unmet = "expect:\n  - { match: { operation: models.list }, count: 2 }\n";
    const cwd = writeScenarios({
      "a.yaml": `${CALM}${unmet}`,
      "b.yaml": CALM.replace("calm", "second"),
      "c.yaml": CALM.replace("calm", "third"),
    });
    const once = "touch began; sleep 1000";
    const report = "junit=out.xml,html=out.html";
    const running = startCommand(["suite", "*.yaml", "--report", report, "--", "sh", "-c", once], { cwd });
    await expect.poll(() => existsSync(join(cwd, "began"))).toBe(true);
    running.child.kill("SIGINT");
    const { code, stdout } = await running.finished;
    expect(code).toBe(1);
    expect(stdout).toContain("0 passed, 1 failed, 2 skipped");
    expect(stdout).toMatch(/skip +second/);
    expect(stdout).toContain("the suite was interrupted");
    // After an interruption it is unknown whether these requests would have come.
    expect(stdout).not.toMatch(/found 0|never triggered/);
    const xml = readFileSync(join(cwd, "out.xml"), "utf8");
    expect(xml).toMatch(/tests="3" failures="1" errors="0" skipped="2"/);
    expect(xml).toMatch(/name="third"[^>]*>\s*<skipped message="the suite was interrupted before it began"/);
    expect(readFileSync(join(cwd, "out.html"), "utf8")).toContain("1 of 3 scenarios failed, 2 did not run");
  });

  it.each([
    ["suite", ["suite", "calm.yaml"], "0 passed, 1 failed"],
    ["coverage", ["coverage"], "documented outcomes"],
    ["client-test", ["client-test"], "stopped by its user in run 1"],
  ])(
    "%s prints its result if a second signal comes while the server closes [interfaces 2]",
    async (_name, words, result) => {
      // A request without an end delays the server; the process that sends it leaves the command's group.
      const hold = `const { existsSync, writeFileSync } = require("node:fs");
        require("node:net").connect(new URL(process.env.UNDERSTUDY_URL).port, "127.0.0.1")
          .on("error", () => {})
          .write("POST /_control/sandboxes HTTP/1.1\\r\\nhost: localhost\\r\\ncontent-length: 9\\r\\n\\r\\n",
            () => writeFileSync("began", ""));
        setInterval(() => existsSync("enough") && process.exit(), 100);`;
      const command = `require("node:child_process")
        .spawn(process.execPath, ["hold.cjs"], { detached: true, stdio: "ignore" });
        setInterval(() => {}, 1000);`;
      const cwd = writeScenarios({ "calm.yaml": CALM, "hold.cjs": hold, "command.cjs": command });
      const running = startCommand([...words, "--", process.execPath, "command.cjs"], { cwd });
      await expect.poll(() => existsSync(join(cwd, "began"))).toBe(true);
      running.child.kill("SIGINT");
      await setTimeout(1000);
      running.child.kill("SIGINT");
      writeFileSync(join(cwd, "enough"), "");
      const { code, stdout } = await running.finished;
      expect([code, stdout]).toEqual([1, expect.stringContaining(result)]);
    },
  );

  it("says how many requests an unmet expectation requires, with and without a description", async () => {
    const cwd = writeScenarios({
      "a.yaml": `${CALM}expect:
  - { match: { operation: models.list }, count: 2, description: models are asked for twice }
  - { match: { operation: models.list }, count: { min: 1, max: 3 } }
`,
    });
    const { code, stdout } = await runCommand(["suite", "a.yaml", "--", "true"], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain("expected models are asked for twice (exactly 2), found 0");
    expect(stdout).toContain('expected 1 to 3 of {"operation":"models.list"}, found 0');
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "stops its commands and their children on %s, and deletes the sandboxes [interfaces 2]",
    async (signal) => {
      const cwd = writeScenarios({ "a.yaml": CALM, "b.yaml": CALM.replace("calm", "second") });
      const child = `trap "" TERM; echo $$ > $UNDERSTUDY_SCENARIO.pid; sleep 1000`;
      const running = startCommand(
        ["suite", "*.yaml", "--jobs", "2", "--url", api.url, "--", "sh", "-c", `sh -c '${child}' & wait`],
        { cwd },
      );
      const files = ["calm.pid", "second.pid"].map((name) => join(cwd, name));
      await expect
        .poll(() => files.every((file) => existsSync(file) && readFileSync(file, "utf8") !== ""))
        .toBe(true);
      const pids = files.map((file) => Number(readFileSync(file, "utf8")));
      running.child.kill(signal);
      const { code, stderr } = await running.finished;
      expect([code, stderr]).toEqual([1, expect.stringContaining("interrupted")]);
      const isAlive = (pid: number) => {
        // A container without an init process keeps zombies, which count as ended.
        const state = existsSync(`/proc/${pid}/stat`)
          ? readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2]
          : "gone";
        return state !== "gone" && state !== "Z";
      };
      await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
      expect(await (await fetch(`${api.url}/_control/sandboxes`)).json()).toMatchObject({ total: 1 });
    },
  );

  it.each([
    [["suite", "a.yaml"], "needs a command"],
    [["suite", "--", "true"], "files"],
    [["suite", "none.yaml", "--", "true"], "there is no file none.yaml"],
    [["suite", "z*.yaml", "--", "true"], "no file matches"],
    [["suite", "a.yaml", "same.yaml", "--", "true"], "both called calm"],
    [["suite", "wrong.yaml", "--", "true"], "wrong.yaml:3:"],
    [["suite", "a.yaml", "--jobs", "0", "--", "true"], "--jobs"],
    [["suite", "a.yaml", "--report", "pdf=x", "--", "true"], "--report"],
    [["suite", "a.yaml", "--", "no-such-command-anywhere"], "not found"],
    [["suite", "a.yaml", "--", "", "x"], "the command after -- is empty"],
    [["coverage", "--", ""], "the command after -- is empty"],
    [["coverage", "--url", "http://127.0.0.1:9", "--", "true"], "leave out --url\n"],
    [["coverage", "--all", "--", "true"], "leave out --all\n"],
    [["coverage", "--token", "x", "--sandbox", "ci", "--", "true"], "leave out --sandbox and --token\n"],
  ])("is exit 2 for wrong usage: %j [interfaces 2]", async (args, message) => {
    const wrong = UNTRIGGERED.replace("threads.delete", "threads.delet").replace(
      "  - id: never\n    match",
      "  - match",
    );
    const cwd = writeScenarios({ "a.yaml": CALM, "same.yaml": CALM, "wrong.yaml": wrong });
    const { code, stderr } = await runCommand(args, { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  it.each([
    [["--fixture", "nope"], 'there is no fixture "nope"'],
    [["--seed", "-1"], "--seed must be at least 0"],
  ])("is exit 2, and no failed run, if the server refuses %j [interfaces 2]", async (options, message) => {
    const cwd = writeScenarios({ "a.yaml": CALM });
    const { code, stdout, stderr } = await runCommand(["suite", "a.yaml", ...options, "--", "true"], { cwd });
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
  });

  it.each([
    [["suite", "a.yaml", "--report", "junit=a.yaml/x.xml"], "a part of its path is a file"],
    [["coverage", "--html", "a.yaml/x/y.html"], "a part of its path is a file"],
    [["coverage", "--html", "."], ". is a folder"],
  ])("runs no command whose report could not be written: %j [interfaces 2]", async (args, message) => {
    const cwd = writeScenarios({ "a.yaml": CALM });
    const { code, stderr } = await runCommand([...args, "--", "touch", "ran"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(join(cwd, "ran"))).toBe(false);
  });

  it("is exit 1 if it reaches no server [interfaces 2]", async () => {
    const cwd = writeScenarios({ "a.yaml": CALM });
    const { code, stderr } = await runCommand(
      ["suite", "a.yaml", "--url", "http://127.0.0.1:9", "--", "true"],
      { cwd },
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining("No Understudy answers")]);
  });

  it("has an example application that runs as its README says [interfaces 2]", async () => {
    const args = [join(EXAMPLE, "upload-report.mjs"), join(EXAMPLE, "report.csv")];
    const env = { ...process.env, UNDERSTUDY_BASE_URL: api.url };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(stdout).toMatch(/^stored as file_/);
  });
});
