import yargs, { type CommandModule } from "yargs";
import packageJson from "../../package.json" with { type: "json" };
import { findNearest } from "../engine/contract/text.ts";
import { agentCommand } from "./commands/agent.ts";
import { bundleCommand } from "./commands/bundle.ts";
import { clientTestCommand } from "./commands/client-test.ts";
import { clockCommand } from "./commands/clock.ts";
import { coverageCommand } from "./commands/coverage.ts";
import { deliveriesCommand } from "./commands/deliveries.ts";
import { fidelityCommand, openapiCommand } from "./commands/documents.ts";
import { eventsCommand } from "./commands/events.ts";
import { explainCommand } from "./commands/explain.ts";
import { fixtureCommand } from "./commands/fixture.ts";
import { fleetCommand } from "./commands/fleet.ts";
import { historyCommand } from "./commands/history.ts";
import { journalCommand } from "./commands/journal.ts";
import { listenCommand } from "./commands/listen.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { openCommand } from "./commands/open.ts";
import { receiverTestCommand } from "./commands/receiver-test.ts";
import { recordCommand } from "./commands/record.ts";
import { replayCommand } from "./commands/replay.ts";
import { resetCommand } from "./commands/reset.ts";
import { rewindCommand } from "./commands/rewind.ts";
import { sandboxCommands } from "./commands/sandbox.ts";
import { scenarioCommand } from "./commands/scenario.ts";
import { signatureCommand } from "./commands/signature.ts";
import { snapshotCommand } from "./commands/snapshot.ts";
import { startCommand } from "./commands/start.ts";
import { statusCommand } from "./commands/status.ts";
import { suiteCommand } from "./commands/suite.ts";
import { triggerCommand } from "./commands/trigger.ts";
import { typesCommand } from "./commands/types.ts";
import { verifyCommand } from "./commands/verify.ts";
import { viewerCommand } from "./commands/viewer.ts";
import { workerFileCommand } from "./commands/worker-file.ts";
import { explainUsageError } from "./explain-usage-error.ts";
import { report, UsageError } from "./failure.ts";
import { print, printLines } from "./process.ts";

/** In the order of `--help`; each has a file of its own (interfaces.md 2). */
const COMMANDS = [
  startCommand,
  statusCommand,
  fleetCommand,
  resetCommand,
  snapshotCommand,
  sandboxCommands,
  journalCommand,
  bundleCommand,
  historyCommand,
  rewindCommand,
  clockCommand,
  scenarioCommand,
  explainCommand,
  fixtureCommand,
  eventsCommand,
  triggerCommand,
  deliveriesCommand,
  listenCommand,
  receiverTestCommand,
  signatureCommand,
  suiteCommand,
  clientTestCommand,
  verifyCommand,
  workerFileCommand,
  recordCommand,
  replayCommand,
  openCommand,
  viewerCommand,
  coverageCommand,
  openapiCommand,
  fidelityCommand,
  typesCommand,
  mcpCommand,
  agentCommand,
] as readonly CommandModule[];

/** Runs every command line except a plain `start`. Sets the exit code. */
export async function runCommands(words: readonly string[]): Promise<void> {
  if (words[0] === COMPLETION_FLAG) {
    // Without the flag and the name of the program. yargs completes what has no names.
    const names = await completeNames(words.slice(2));
    if (names.length > 0) return printLines(names.join("\n"));
  }
  const json = words.includes("--json");
  // yargs would read `--help` as a part of the command line to complete.
  if (words[0] === COMPLETION && words.includes("--help"))
    return print(json, { help: COMPLETION_HELP }, COMPLETION_HELP);
  const parser = yargs([...words])
    .scriptName("understudy")
    // Otherwise yargs translates its messages to the terminal's language, and `explainUsageError` would not
    // recognize them.
    .locale("en")
    // The bundle omits yargs's language files, and this text differs between those files and the code of yargs.
    .updateStrings({ "Implications failed:": "Missing dependent arguments:" })
    .version(packageJson.version)
    .usage("$0 <command>\n\nA local mock server for the AI platform's HTTP API.")
    .option("json", { type: "boolean", default: false, describe: "Print the result as JSON", global: true })
    .strict()
    .parserConfiguration({ "populate--": true })
    .wrap(Math.min(110, process.stdout.columns ?? 100))
    // A list of completions must have nothing else; yargs ensures that by ending the process.
    .exitProcess(words[0] === COMPLETION_FLAG)
    .check((argv, options) => checkValues(argv, options, words), true)
    .fail((message, error, usage) => {
      // yargs throws its own error for an option without a value; it is a usage error too.
      if (error && error.name !== "YError") throw error;
      const help = (usage as unknown as { help(): string }).help();
      throw new UsageError(explainUsageError(message, { parser, words, help }));
    });
  for (const one of COMMANDS) parser.command(one);
  parser.completion(COMPLETION, COMPLETION_SUMMARY);
  if (words[0] === COMPLETION) return void parser.showCompletionScript();
  try {
    refuseUnknownCommand(words);
    refuseNegativeTime(words);
    await parser.parseAsync(joinArguments(words));
  } catch (error) {
    process.exitCode = report(error, json);
  }
}

const COMPLETION = "completion";
const COMPLETION_SUMMARY =
  "Print a script that completes commands, options and names: understudy completion >> ~/.bashrc";
const COMPLETION_HELP = `understudy completion

${COMPLETION_SUMMARY}

Examples:
  understudy completion >> ~/.bashrc  In bash, from the next terminal on
  understudy completion >> ~/.zshrc   In zsh`;
/** The option that the completion script calls, followed by the words so far. */
const COMPLETION_FLAG = "--get-yargs-completions";
const COMMAND_NAMES = [
  ...COMMANDS.map(({ command }) => String([command].flat()[0]).split(" ")[0]!),
  COMPLETION,
];

/** yargs would read an unknown command as an argument of `start`. @throws UsageError */
function refuseUnknownCommand([first]: readonly string[]): void {
  if (first === undefined || first.startsWith("-") || COMMAND_NAMES.includes(first)) return;
  const nearest = findNearest(first, COMMAND_NAMES);
  const hint =
    nearest === undefined ? `Commands are ${COMMAND_NAMES.join(", ")}.` : `Did you mean "${nearest}"?`;
  throw new UsageError(`there is no command "${first.slice(0, 80)}". ${hint}`);
}

/** Commands that run the program after `--`. */
const PROGRAM_RUNNERS = ["suite", "client-test", "coverage"];

/** For commands that run no program, removes `--`, since yargs would hide what follows it. @throws UsageError */
function joinArguments(words: readonly string[]): string[] {
  // yargs completes options after `-`, and would take `--` for the end of all options.
  if (words[0] === COMPLETION_FLAG && words.at(-1) === "--") return words.with(-1, "-");
  const end = words.indexOf("--");
  if (end < 0 || PROGRAM_RUNNERS.includes(words[0]!)) return [...words];
  const option = words.slice(end + 1).find((word) => word.startsWith("-"));
  if (option !== undefined)
    throw new UsageError(`write ${option} before --, or if it is a file's name, as ./${option}`);
  return words.filter((_, place) => place !== end);
}

/** yargs would read `-5m` as the options 5 and m. @throws UsageError */
function refuseNegativeTime([command, action, ...rest]: readonly string[]): void {
  if (command !== "clock" || (action !== "advance" && action !== "set")) return;
  const negative = rest.find((word) => /^-[\dP]/.test(word));
  if (negative === undefined) return;
  const clipped = negative.slice(0, 80);
  const forward = action === "set" ? "an instant such as 2026-03-15T12:00:00Z" : clipped.slice(1);
  throw new UsageError(
    `the clock only moves forward, and ${clipped} would move it back; write ${forward} to go forward; to go back, \`understudy rewind\`, \`snapshot restore\` or \`reset\``,
  );
}

/**
 * yargs turns most options that are given twice into a list, takes the last of others, and accepts an empty text as a
 * value and any word as a number. So the words themselves are checked too.
 * @throws UsageError
 */
function checkValues(argv: Record<string, unknown>, options: unknown, words: readonly string[]): true {
  const { array } = options as { array: readonly string[] };
  const end = words.indexOf("--");
  const optionWords = words.slice(0, end < 0 ? undefined : end).map((word, place) => {
    const [, name, assigned] = /^--(?:no-)?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    return { name, assigned, value: assigned ?? words[place + 1] };
  });
  for (const [name, value] of Object.entries(argv)) {
    if (name === "_" || name === "--") continue;
    const uses = optionWords.filter((one) => one.name === name);
    const label = uses.length > 0 ? `--${name}` : `<${name}>`;
    if (!array.includes(name) && (Array.isArray(value) || uses.length > 1))
      throw new UsageError(`${label} is given more than once`);
    const isBlank = typeof value === "number" && uses.some((one) => one.value?.trim() === "");
    if (isBlank || [value].flat().includes(""))
      throw new UsageError(`${label} is empty; give it a value, or leave it out`);
    if (typeof value === "boolean" && uses.some((one) => !/^(true|false)$/.test(one.assigned ?? "true")))
      throw new UsageError(`${label} takes no value but true or false`);
    if (typeof value === "number" && Number.isNaN(value)) throw new UsageError(`${label} takes a number`);
  }
  return true;
}

/** The names that may follow these words of a command line; empty if it takes other values. */
async function completeNames(words: readonly string[]): Promise<string[]> {
  const [command, action] = words;
  // An option, or its value.
  if (words.slice(-2).some((word) => word.startsWith("-"))) return [];
  if (command === "trigger" || command === "events") {
    const { EVENT_NAMES } = await import("../engine/resources/events.ts");
    return [...EVENT_NAMES];
  }
  if (command === "explain") {
    const { API } = await import("../engine/resources/index.ts");
    return API.operations.map(({ id }) => id);
  }
  if (command === "scenario" && (action === "on" || action === "off")) {
    const [{ ScenarioLibrary, listScenarioFolders }, { API }, { findOwnScenarios }] = await Promise.all([
      import("../documents/scenario-library.ts"),
      import("../engine/resources/index.ts"),
      import("./start-options.ts"),
    ]);
    const folders = listScenarioFolders(findOwnScenarios(undefined));
    return new ScenarioLibrary({ api: API, folders }).listNames();
  }
  return [];
}
