import { resolve } from "node:path";
import { type TSchema, Type } from "typebox";
import { parseSettings, SettingsInput } from "../control/check-input.ts";
import { Problem } from "../control/problem.ts";
import { formatPath, readUserText, UnreadableFile } from "../documents/files.ts";
import { ClosedObject } from "../engine/contract/schema.ts";
import { toValidator } from "../engine/contract/validator.ts";
import { checkDocument } from "../engine/documents/check-document.ts";
import { DocumentError, formatProblem } from "../engine/documents/document-error.ts";
import { readDocument } from "../engine/documents/read-document.ts";
import { locateProblem, type ProblemDetails } from "../engine/documents/user-document.ts";
import { UnknownScenarioError } from "../engine/sandbox/fault-types.ts";
import { explainUnknownScenario, runOrThrowUsageError, UsageError } from "./failure.ts";
import { printError } from "./process.ts";
import { type Configuration, type Flag, START_FLAGS } from "./start-flags.ts";

/** Every option of `start` except `config`, and settings. */
const Document = ClosedObject({
  ...Object.fromEntries(
    Object.entries<Flag>(START_FLAGS)
      .filter(([name]) => name !== "config")
      .map(([name, flag]) => [name, Type.Optional(toSchema(flag))]),
  ),
  settings: Type.Optional(SettingsInput),
});

function toSchema({ type, array, minimum, maximum }: Flag): TSchema {
  if (type === "boolean") return Type.Boolean();
  if (type === "number") return Type.Integer({ minimum, maximum });
  const text = Type.String({ minLength: 1 });
  return array ? Type.Array(text) : text;
}

export interface LoadedConfiguration {
  options: Omit<Configuration, "settings">;
  settings: Configuration["settings"];
  /** Adds the place in the file to an error about one of its options, unless a flag has replaced that option. */
  locate(error: unknown, givenFlags: object): unknown;
}

/**
 * The configuration file of interfaces.md 2, with the same checks as flags and the control API.
 * @throws DocumentError with file, line and column; UsageError if the file cannot be read
 */
export function readConfiguration(file: string): LoadedConfiguration {
  const text = runOrThrowUsageError(`cannot read the configuration ${file}`, () => readUserText(file));
  const document = readDocument(text, {
    file,
    warn: (problem) => printError(formatProblem(problem)),
  });
  const problems = document.value === null ? [] : checkDocument(document, toValidator(Document));
  if (problems.length > 0) throw new DocumentError(problems, document.text);
  const { settings, ...options } = (document.value ?? {}) as Configuration;
  const locate = (error: unknown, givenFlags: object) => {
    const problem = findProblem(error, options);
    const option = problem?.path[0];
    if (option === undefined || !(option in options) || option in givenFlags) return error;
    return new DocumentError([locateProblem(document, problem!)], document.text);
  };
  try {
    return { options, settings: settings && parseSettings(settings), locate };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { field = "settings" } = error.body as { field?: string };
    const steps = field.split(/[.[\]]+/).filter((step) => step !== "");
    const path = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    throw new DocumentError([locateProblem(document, { path, message: error.message })], document.text);
  }
}

/** The problem as one of the option that an error is about: its value, or the file or name that it gives. */
function findProblem(error: unknown, options: LoadedConfiguration["options"]): ProblemDetails | undefined {
  if (error instanceof UsageError) {
    const [, option, rest] = /^--([a-z-]+)(.*)/s.exec(error.message) ?? [];
    return option === undefined ? undefined : { path: [option], message: `\`${option}\`${rest}` };
  }
  const isUnknownScenario = error instanceof UnknownScenarioError;
  if (!isUnknownScenario && !(error instanceof UnreadableFile)) return undefined;
  const given = isUnknownScenario ? error.scenario : error.file;
  const isGiven = (value: string) => value === given || formatPath(resolve(value), process.cwd()) === given;
  for (const option of ["fixture", "scenario", "operations", "openapi"] as const) {
    const value = options[option] ?? [];
    const index = [value].flat().findIndex(isGiven);
    if (index < 0) continue;
    const text = isUnknownScenario ? explainUnknownScenario(error) : error.message;
    const hint = isUnknownScenario ? undefined : error.hint;
    const path = Array.isArray(value) ? [option, index] : [option];
    return { path, message: `\`${option}\`: ${text}`, hint };
  }
  return undefined;
}
