import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readWorld } from "../support/read-world.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

interface Result {
  title: string;
  status: string;
  failureMessages: string[];
}

const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));

/** Runs the samples in a separate Vitest, which writes its reports to `folder`. */
function runSamples() {
  const sample = "{sample,in-{node,jsdom,happy-dom}}.ts";
  const folder = createTempFolder();
  const { stderr } = spawnSync(process.execPath, [VITEST, "run"], {
    cwd: fileURLToPath(new URL("../support/vitest-helper", import.meta.url)),
    encoding: "utf8",
    env: { ...process.env, VITEST: "", UNDERSTUDY_URL: "", REPORTS: folder, SAMPLE: sample, NO_COLOR: "1" },
  });
  const { testResults } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8")) as {
    testResults: { name: string; assertionResults: Result[] }[];
  };
  const listResults = (file: RegExp) =>
    testResults.filter(({ name }) => file.test(name)).flatMap(({ assertionResults }) => assertionResults);
  return {
    folder,
    stderr,
    results: listResults(/sample\.ts$/),
    inEnvironments: listResults(/in-[\w-]+\.ts$/),
  };
}

let made: ReturnType<typeof runSamples>;
beforeAll(() => {
  made = runSamples();
}, 180_000);
afterAll(removeTempFolders);

describe("understudy-sandbox/vitest", () => {
  const readMessage = (title: string) =>
    made.results.find((one) => one.title === title)!.failureMessages.join("\n");

  it("gives each test a sandbox by its options, and fails tests whose faults were never triggered [interfaces 13]", () => {
    expect(made.results.map(({ title, status }) => [title, status])).toEqual([
      ["gets its fault", "passed"],
      ["leaves a request held", "failed"],
      ["arms a rule that never triggers", "failed"],
      ["fails an assertion", "failed"],
      ["does not use up a rule", "failed"],
      ["deletes its sandbox", "passed"],
      ["is meant to fail", "passed"],
      ["begins as the options say", "passed"],
      ["never triggers its scenario", "failed"],
      ["may leave it alone", "passed"],
      ["are refused", "failed"],
      ["runs on from the past", "passed"],
      ["counts what came", "passed"],
      ["waits for what is still to come", "passed"],
      ["names the nearest request", "failed"],
    ]);
    expect(readMessage("leaves a request held")).toContain(
      "still held at the end of the test: GET /v1/models (held_1",
    );
    expect(readMessage("arms a rule that never triggers")).toContain(
      'armed but never triggered: fault_1 {"operation":"threads.delete"}',
    );
    expect(readMessage("does not use up a rule")).toContain(
      'armed but not used up: fault_1 {"operation":"models.list"} triggered 1 of 2 times',
    );
    expect(readMessage("never triggers its scenario")).toMatch(
      /armed but never triggered: models-list-rate-limited\/[\w-]+ \{"operation":"models.list"/,
    );
    expect(readMessage("are refused")).toContain(
      'understudy has no option "fixtur"; its options are fixture, seed, clock,',
    );
    expect(readMessage("names the nearest request")).toMatch(
      /to have received exactly 2 of \{"operation":"models.list","status":404\}, found 0; nearest: GET \/v1\/models -> 200 \(status is 200, not 404\)/,
    );
  });

  it("attaches journal, history, HAR and a bundle that replays, under the test's name [interfaces 13]", async () => {
    const junit = readFileSync(join(made.folder, "junit.xml"), "utf8");
    const own = junit.slice(junit.indexOf('name="fails an assertion"'));
    const [testcase = ""] = own.split("</testcase>");
    expect(testcase).toMatch(/GET \/v1\/models -&gt; 401 AUTHENTICATION_REQUIRED \(auth\)/);
    const readAttached = (name: string) =>
      testcase.match(new RegExp(`\\S*attachments/${name}-\\w+\\.\\w+`))?.[0] ?? "";
    expect(readFileSync(readAttached("understudy-journal-txt"), "utf8")).toMatch(
      /newest first:\n[^\n]+GET \/v1\/models -> 200 \(ok\)/,
    );
    expect(readFileSync(readAttached("understudy-history-txt"), "utf8")).toMatch(/^History of sandbox sb-/);
    const { log } = JSON.parse(readFileSync(readAttached("understudy-har"), "utf8"));
    expect(log.entries).toHaveLength(2);
    const replayed = await runCommand(["replay", readAttached("understudy-bundle-json")]);
    expect([replayed.code, replayed.stderr]).toEqual([0, ""]);
    expect(await readWorld(readAttached("understudy-sandbox-understudy"))).toHaveLength(2);
    // Five files for each of six failing tests; the seventh never got a sandbox.
    expect(readdirSync(join(made.folder, "attachments"))).toHaveLength(30);
    expect(made.stderr).toMatch(/understudy replay \S*attachments\/understudy-bundle-json/);
  });
});

describe("a server in the test's process", () => {
  it("works in every environment of Vitest, also with other classes for bytes [interfaces 13]", () => {
    const results = made.inEnvironments;
    expect(
      results.filter(({ status }) => status !== "passed").map(({ failureMessages }) => failureMessages),
    ).toEqual([]);
    expect(results).toHaveLength(6);
  });
});
