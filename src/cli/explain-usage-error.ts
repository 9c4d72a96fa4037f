import { findNearest } from "../engine/contract/text.ts";

interface WrongUsage {
  parser: object;
  /** The command line. */
  words: readonly string[];
  /** The help of the innermost command that yargs recognized; its first line is `understudy snapshot export <name> <file>`. */
  help: string;
}

/** Rewrites a message of yargs so that it names the missing argument, or the option that was probably meant. */
export function explainUsageError(message: string, wrongUsage: WrongUsage): string {
  const usage = wrongUsage.help.split("\n")[0]!.trim();
  const command = usage.replace(/ [<[].*$/, "");
  return `${explainMessage(message, { ...wrongUsage, usage })}\nRun \`${command} --help\` for the options.`;
}

function explainMessage(
  message: string,
  { parser, words, help, usage }: WrongUsage & { usage: string },
): string {
  const [, givenCount] = /^Not enough non-option arguments: got (\d+)/.exec(message) ?? [];
  if (givenCount !== undefined) return nameMissingArguments(Number(givenCount), usage);
  const [, requiredOptions] = /^Missing required arguments?: (.+)$/.exec(message) ?? [];
  if (requiredOptions !== undefined)
    return describeMissing(requiredOptions.split(", ").map((option) => `--${option}`));
  const [, optionWithoutValue] = /^Not enough arguments following: (\S+)$/.exec(message) ?? [];
  if (optionWithoutValue !== undefined) return `--${optionWithoutValue} needs a value`;
  const [, name, typed, choices] = /Argument: (\S+), Given: (.+), Choices: (.+)/.exec(message) ?? [];
  if (choices !== undefined)
    return `--${name} takes ${choices.replaceAll(/, (?=[^,]+$)/g, " or ")}, not ${typed}`;
  const [, option, neededOption] = /^Missing dependent arguments:\s+(\S+) -> (\S+)/.exec(message) ?? [];
  if (neededOption !== undefined) return `--${option} needs --${neededOption}`;
  const [, unknownList] = /^Unknown arguments?: (.+)$/s.exec(message) ?? [];
  if (unknownList === undefined) return message;
  const [unknown = "", ...others] = unknownList.split(", ");
  const action = explainUnknownAction(words, help);
  if (action !== undefined) return action;
  const [command] = words;
  if (words.includes(unknown) && help.includes(" -- "))
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

/** A command that has actions lists them in its help: `understudy clock advance [by]`. */
function explainUnknownAction([command, action]: readonly string[], help: string): string | undefined {
  // Reads only the list of commands: the examples of the help name actions too.
  const [, list = ""] = /^Commands:\n(.*?)\n\n/ms.exec(help) ?? [];
  const actions = [...list.matchAll(/^ +understudy (\S+) (\S+)/gm)].flatMap(([, word, name]) =>
    word === command ? [name!] : [],
  );
  if (actions.length === 0 || !action || action.startsWith("-") || actions.includes(action)) return undefined;
  const nearest = findNearest(action, actions);
  const hint =
    nearest === undefined ? `Its actions are ${actions.join(", ")}.` : `Did you mean "${nearest}"?`;
  return `${command} has no action "${action.slice(0, 80)}". ${hint}`;
}

function nameMissingArguments(givenCount: number, usage: string): string {
  const argumentNames = [...usage.matchAll(/<[^>]+>/g)].map(([name]) => name);
  const missing = argumentNames.slice(givenCount);
  if (missing.length === 0) return "an argument is missing";
  return `${describeMissing(missing)}: ${usage}`;
}

function describeMissing(names: readonly string[]): string {
  return `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} missing`;
}
