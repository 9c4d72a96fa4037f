import { command, flag, number, OWN_FILES, REPORT, text, texts } from "../command.ts";

export const verifyCommand = command({
  command: "verify",
  describe: "Check a server against the contract, as the key's user",
  options: {
    target: text("Base URL of an Understudy or of the real service, without the version"),
    key: text("API key; the checks act as its user"),
    har: text("Check this HTTP Archive instead; sends nothing"),
    ...OWN_FILES,
    own: flag("Check only your own operations"),
    write: flag("Also run checks that change something"),
    strict: flag("Also fail for differences from assumptions"),
    use: texts("NAME=ID of an object that no call lists, or a YAML file of them; repeatable"),
    ...REPORT,
    timeout: number("Seconds that the whole run may take", { default: 600 }),
  },
  examples: [
    ["$0 verify --target http://127.0.0.1:4747 --key ak_… --write", "An Understudy server, in full"],
    [
      "$0 verify --target https://api.example.com --key ak_… --use transcription_id=trans_… --report html=out.html",
      "The real service, reading only",
    ],
    ["$0 verify --har traffic.har", "A recording"],
  ],
  async run(options) {
    const { runVerifyCommand } = await import("../run-verify-command.ts");
    return runVerifyCommand(options);
  },
});
