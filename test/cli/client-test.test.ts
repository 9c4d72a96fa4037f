import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { formatReport } from "../../src/client/client-test/client-report.ts";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";

afterAll(removeTempFolders);

/* interfaces 21: `client-test -- COMMAND` */

const CLIENT = `
const key = "ak_adaOwnerAcme000000000000000000000000000";
const answer = await fetch(process.env.UNDERSTUDY_BASE_URL + "/v1/models", { headers: { "api-key": key } });
if (!answer.ok) process.exit(3);
`;

it("client-test grades a command, writes the reports, and exits with the code of the verdict [interfaces 21]", async () => {
  const cwd = createTempFolder();
  writeFileSync(join(cwd, "client.mjs"), CLIENT);
  const command = ["--", "node", "client.mjs"];
  const sound = await runCommand(
    [
      "client-test",
      "--checks",
      "no-retry-of-403,uses-etags",
      "--report",
      "junit=a.xml,html=a.html",
      ...command,
    ],
    { cwd },
  );
  expect(sound.stdout).toContain("1 passed, 0 failed, 1 not observable");
  expect(sound.code).toBe(0);
  expect(readFileSync(join(cwd, "a.xml"), "utf8")).toContain('classname="no-retry-of-403"');
  expect(readFileSync(join(cwd, "a.html"), "utf8")).toContain("does not send a request again that got 403");
  const flawed = await runCommand(
    [
      "client-test",
      "--checks",
      "gives-up-on-silence",
      // The run without failures must end in this time too, on any busy machine.
      "--timeout",
      "15",
      "--json",
      "--report",
      "html=b.html",
      ...command,
    ],
    { cwd },
  );
  const [, file] = /download="gives-up-on-silence\.understudy" href="[^,]*,([^"]+)"/.exec(
    readFileSync(join(cwd, "b.html"), "utf8"),
  )!;
  expect(Buffer.from(file!, "base64").length).toBeGreaterThan(1000);
  expect(flawed.code).toBe(1);
  expect(JSON.parse(flawed.stdout)).toMatchObject({ verdict: "fail", summary: { failed: 1 } });
}, 60_000);

/** Calls another address than the sandbox's, and prints the error. */
const CALLS_ELSEWHERE =
  "fetch('http://127.0.0.1:9/v1/models').catch(() => { console.error('it called http://127.0.0.1:9'); process.exit(1); })";
/** Calls a port that is fixed in the code, and prints no error. */
const FIXED_PORT = "fetch('http://127.0.0.1:4747/v1/models').catch(() => {})";
/** Makes a valid request at once, but never ends. Node may take longer to start than a run may last. */
const NEVER_ENDS =
  'curl -s -H "api-key: ak_adaOwnerAcme000000000000000000000000000" $UNDERSTUDY_BASE_URL/v1/models; sleep 1000';

/** Makes requests that are refused: for a wrong path, or without a key. */
const CALLS_ANOTHER_PATH =
  "fetch(process.env.UNDERSTUDY_BASE_URL + '/v1/modelz', { headers: { 'api-key': 'ak_adaOwnerAcme000000000000000000000000000' } })";
const HAS_NO_KEY = "fetch(process.env.UNDERSTUDY_BASE_URL + '/v1/models')";
const THROWS = `${HAS_NO_KEY}.then(({ status }) => { throw new Error('HTTP ' + status) })`;

const RUBY_ERROR = "c.rb:9:in \\`call': HTTP 404 (Error)\n\tfrom c.rb:17:in \\`<main>'";
/** With the line that `go run` adds. */
const GO_ERROR = "2026/03/15 12:00:00 HTTP 404\nexit status 1";

it.each([
  [["--", "node", "-e", "1"], 1, "made no request to the sandbox"],
  [["--", "node", "-e", CALLS_ANOTHER_PATH], 1, "failures: GET /v1/modelz got 404 ("],
  [["--", "node", "-e", HAS_NO_KEY], 1, "No request of the client succeeded even without failures"],
  [["--", "node", "-e", THROWS], 1, "It ended with: exit code 1: Error: HTTP 401. Make it work first."],
  [
    ["--", "sh", "-c", `echo "${RUBY_ERROR}" >&2; exit 1`],
    1,
    "exit code 1: c.rb:9:in `call': HTTP 404 (Error).",
  ],
  [["--", "sh", "-c", `echo "${GO_ERROR}" >&2; exit 1`], 1, "exit code 1: 2026/03/15 12:00:00 HTTP 404."],
  [["--", "sh", "-c", "kill -9 $$"], 1, "It ended with: the signal SIGKILL."],
  [["--", "./README.md"], 2, "cannot run ./README.md: it is not an executable file"],
  [
    ["node", "sync.mjs"],
    2,
    "a command to run comes after --, as in: understudy client-test -- node sync.mjs",
  ],
  [["--", "node", "-e", "process.exit(7)"], 1, "exit code 7"],
  [["--timeout", "9999999", "--", "node", "-e", "setTimeout(process.exit, 300, 7)"], 1, "exit code 7"],
  [["--timeout", "1", "--", "node", "-e", "setInterval(() => {}, 1000)"], 1, "It did not end within 1 s."],
  [["--", "node", "-e", CALLS_ELSEWHERE], 1, "it called http://127.0.0.1:9"],
  [["--", "node", "-e", FIXED_PORT], 1, "not one that is fixed in its code"],
  [["--timeout", "2", "--checks", "uses-etags", "--", "sh", "-c", NEVER_ENDS], 0, "1 not observable"],
  [["--", ""], 2, "the command after -- is empty"],
  [["--", "no-such-program"], 2, "cannot run no-such-program: not found"],
  [["--", "./README.md/sync"], 2, "cannot run ./README.md/sync: not found"],
  [
    ["--", "node sync.mjs && true"],
    2,
    'not found; for a line of a shell, use: sh -c "node sync.mjs && true"',
  ],
  [["--", "x".repeat(300)], 2, "xxx: its name is too long"],
  [["--checks", "none", "--", "node", "-e", "1"], 2, 'there is no check "none"'],
  [[], 2, "needs a command after --"],
])("client-test %j exits with %i and the documented message [interfaces 21]", async (args, code, says) => {
  const cwd = createTempFolder();
  writeFileSync(join(cwd, "README.md"), "");
  const made = await runCommand(["client-test", ...args], { cwd });
  expect(made.stdout + made.stderr).toContain(says);
  expect(made.code).toBe(code);
});

it("client-test has colours in a terminal, and never other control characters [interfaces 21]", () => {
  const check = {
    ...{ id: "no-retry-of-403", severity: "error", title: "Does not send again", advice: "Stop." },
    ...{ outcome: "failed", why: "It cleared \u001b[2J the screen.", evidence: [], duration_ms: 1 },
  };
  const summary = { passed: 0, failed: 1, not_observable: 0 };
  const report = { ...{ verdict: "fail", stopped: null, summary, runs: 1, duration_ms: 1 }, checks: [check] };
  const text = formatReport(report as never, { colour: true });
  expect(text).toContain("\u001b[31mFAIL\u001b[0m");
  expect(text).not.toContain("\u001b[2J");
});
