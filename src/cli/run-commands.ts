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
import { sandboxCommand } from "./commands/sandbox.ts";
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
import { report, UsageError } from "./failure.ts";
import { print, printLines } from "./process.ts";

/** In the order of `--help`; each has a file of its own (interfaces 2). */
const COMMANDS = [
  startCommand,
  statusCommand,
  fleetCommand,
  resetCommand,
  snapshotCommand,
  sandboxCommand,
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
    const names = await completeNames(words.slice(2));
    if (names.length > 0) return printLines(names.join("\n"));
  }
  const json = words.includes("--json");
  // yargs would read `--help` as a part of the command line to complete.
  if (words[0] === COMPLETION && words.includes("--help"))
    return print(json, { help: COMPLETION_HELP }, COMPLETION_HELP);
  const command = findCommandPrefix(words);
  const parser = yargs([...words])
    .scriptName("understudy")
    // Otherwise yargs translates its messages to the terminal's language, and `explainMessage` would not recognize
    // them.
    .locale("en")
    // The bundle omits yargs's language files, and this text differs between those files and the code of yargs.
    .updateStrings({ "Implications failed:": "Missing dependent arguments:" })
    .version(packageJson.version)
    .usage("$0 <command>\n\nA local mock server for the AI platform's HTTP API.")
    .option("json", { type: "boolean", default: false, describe: "Print the result as JSON", global: true })
    .strict()
    .parserConfiguration({ "populate--": true })
    .wrap(Math.min(110, process.stdout.columns ?? 100))
    // Completion scripts must print nothing else; yargs ensures that by ending the process.
    .exitProcess(words[0] === COMPLETION || words[0] === COMPLETION_FLAG)
    .check((argv, options) => checkValues(argv, options, words), true)
    .fail((message, error, usage) => {
      // yargs throws its own error for an option without a value; it is a usage error too.
      if (error && error.name !== "YError") throw error;
      throw new UsageError(
        `${explainMessage(message, { parser, words, help: (usage as unknown as { help(): string }).help() })}\nRun \`understudy ${command}--help\` for the options.`,
      );
    });
  for (const one of COMMANDS) parser.command(one);
  parser.completion(COMPLETION, COMPLETION_SUMMARY);
  try {
    refuseUnknownCommand(words);
    refuseNegativeTime(words);
    await parser.parseAsync();
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
const NAMES = [...COMMANDS.map(({ command }) => String([command].flat()[0]).split(" ")[0]!), COMPLETION];

/** The command with a space after it, for `understudy COMMAND --help`; empty if the words begin with none. */
function findCommandPrefix(words: readonly string[]): string {
  return words[0] !== undefined && NAMES.includes(words[0]) ? `${words[0]} ` : "";
}

/** yargs would read an unknown command as an argument of `start`. @throws UsageError */
function refuseUnknownCommand([first]: readonly string[]): void {
  if (first === undefined || first.startsWith("-") || NAMES.includes(first)) return;
  const nearest = findNearest(first, NAMES);
  const hint = nearest === undefined ? `Commands are ${NAMES.join(", ")}.` : `Did you mean "${nearest}"?`;
  throw new UsageError(`there is no command "${first.slice(0, 80)}". ${hint}`);
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

/** Rewrites messages of yargs so that they name the missing argument, or the option that was probably meant. */
function explainMessage(
  message: string,
  { parser, words, help }: { parser: object; words: readonly string[]; help: string },
): string {
  const [, givenCount] = /^Not enough non-option arguments: got (\d+)/.exec(message) ?? [];
  if (givenCount !== undefined) return findMissingArgument(Number(givenCount), help.split("\n")[0]!);
  const [, name, typed, choices] = /Argument: (\S+), Given: (.+), Choices: (.+)/.exec(message) ?? [];
  if (choices !== undefined)
    return `--${name} takes ${choices.replaceAll(/, (?=[^,]+$)/g, " or ")}, not ${typed}`;
  const [, unknownList] = /^Unknown arguments?: (.+)$/s.exec(message) ?? [];
  if (unknownList === undefined) return message;
  const [unknown = "", ...others] = unknownList.split(", ");
  const action = explainUnknownAction(words, help);
  if (action !== undefined) return action;
  const [command] = words;
  const usage = help.split("\n")[0]!.trim();
  if (words.includes(unknown) && help.includes(`${command} -- `))
    return `a command to run comes after --, as in: understudy ${command} -- ${words.slice(words.indexOf(unknown)).join(" ")}`;
  if (words.includes(unknown)) {
    const [extra, ...more] = [unknown, ...others.filter((one) => words.includes(one))].map((one) =>
      JSON.stringify(one.slice(0, 80)),
    );
    const problem = more.length === 0 ? `${extra} is` : `${[extra, ...more].join(", ")} are`;
    return `${problem} more than the command takes: ${usage}`;
  }
  const { key } = (parser as { getOptions(): { key: Record<string, unknown> } }).getOptions();
  const nearest = findNearest(unknown, Object.keys(key));
  return nearest === undefined ? message : `${message} (did you mean --${nearest}?)`;
}

/** A command that has actions lists them in its help: `understudy clock advance <by>`. */
function explainUnknownAction([command, action = "-"]: readonly string[], help: string): string | undefined {
  // Reads only the list of commands: the examples of the help name actions too.
  const [, list = ""] = /^Commands:\n(.*?)\n\n/ms.exec(help) ?? [];
  const actions = [...list.matchAll(/^ +understudy (\S+) (\S+)/gm)].flatMap(([, word, name]) =>
    word === command ? [name!] : [],
  );
  if (actions.length === 0 || action.startsWith("-") || actions.includes(action)) return undefined;
  const nearest = findNearest(action, actions);
  const hint =
    nearest === undefined ? `Its actions are ${actions.join(", ")}.` : `Did you mean "${nearest}"?`;
  return `${command} has no action "${action.slice(0, 80)}". ${hint}`;
}

/** The first line of a command's help says what it takes: `understudy snapshot export <name> <file>`. */
function findMissingArgument(count: number, usage: string): string {
  const argumentNames = [...usage.matchAll(/<[^>]+>/g)].map(([name]) => name);
  const missing = argumentNames.slice(count);
  if (missing.length === 0) return "an argument is missing";
  return `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing: ${usage.trim()}`;
}

/**
 * yargs turns most options that are given twice into a list, takes the last of others, and accepts an empty text as a
 * value and any word as a number. So the words themselves are checked too.
 * @throws UsageError
 */
function checkValues(argv: Record<string, unknown>, options: unknown, words: readonly string[]): true {
  const { array } = options as { array: readonly string[] };
  const end = words.indexOf("--");
  const typedOptions = words.slice(0, end < 0 ? undefined : end).map((word, place) => {
    const [, name, value] = /^--(?:no-)?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    return { name, value: value ?? words[place + 1] };
  });
  for (const [name, value] of Object.entries(argv)) {
    if (name === "_" || name === "--") continue;
    const uses = typedOptions.filter((one) => one.name === name);
    const label = uses.length > 0 ? `--${name}` : `<${name}>`;
    if (!array.includes(name) && (Array.isArray(value) || uses.length > 1))
      throw new UsageError(`${label} is given more than once`);
    const isBlank = typeof value === "number" && uses.some((one) => one.value?.trim() === "");
    if (isBlank || [value].flat().includes(""))
      throw new UsageError(`${label} is empty; give it a value, or leave it out`);
    if (typeof value === "number" && Number.isNaN(value)) throw new UsageError(`${label} takes a number`);
  }
  return true;
}

/** The names that may follow these words of a command line; empty if it takes other values. */
async function completeNames([command, action]: readonly string[]): Promise<string[]> {
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
