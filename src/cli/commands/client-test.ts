import { command, number, REPORT, readFixture, splitIds, text, texts, toTimeoutMs } from "../command.ts";
import { UsageError } from "../failure.ts";

export const clientTestCommand = command({
  command: "client-test",
  describe: "Grade an application that calls the API, and say what to fix: client-test -- COMMAND",
  options: {
    checks: texts("Checks to run, by id; repeatable or comma-separated"),
    skip: texts("Checks to leave out, by id; repeatable or comma-separated"),
    ...REPORT,
    timeout: number("Seconds that one run of the command may take", { default: 20 }),
    fixture: text("Initial data of the sandbox: name or file of a fixture"),
    seed: number("Seed of the sandbox"),
  },
  examples: [
    [
      "$0 client-test -- node sync.js",
      "The command reads UNDERSTUDY_BASE_URL, and runs once per kind of failure",
    ],
    ["$0 client-test --report junit=out.xml,html=out.html -- pytest tests/test_sync.py", "In CI"],
  ],
  async run({ checks, skip, report, timeout, fixture, seed, json, "--": line = [] }) {
    if (line.length === 0)
      throw new UsageError("client-test needs a command after --, as in: client-test -- node sync.js");
    const timeoutMs = toTimeoutMs(timeout);
    const { runClientTest } = await import("../run-client-test.ts");
    return runClientTest(
      {
        only: splitIds(checks),
        skip: splitIds(skip),
        timeoutMs,
        report,
        fixture: await readFixture(fixture),
        seed,
        json,
      },
      line,
    );
  },
});
