import { type TSchema, Type } from "typebox";
import { parseSettings, SettingsInput } from "../control/check-input.ts";
import { Problem } from "../control/problem.ts";
import { readUserText } from "../documents/files.ts";
import { ClosedObject } from "../engine/contract/schema.ts";
import { toValidator } from "../engine/contract/validator.ts";
import { checkDocument } from "../engine/documents/check-document.ts";
import { DocumentError, formatProblem } from "../engine/documents/document-error.ts";
import { readDocument } from "../engine/documents/read-document.ts";
import { locateProblem } from "../engine/documents/user-document.ts";
import { requireSuccess } from "./failure.ts";
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

/**
 * The configuration file of interfaces 2, with the same checks as flags and the control API.
 * @throws DocumentError with file, line and column; UsageError if the file cannot be read
 */
export function readConfiguration(file: string): Configuration {
  const text = requireSuccess(`cannot read the configuration ${file}`, () => readUserText(file));
  const document = readDocument(text, {
    file,
    warn: (problem) => printError(formatProblem(problem)),
  });
  if (document.value === null) return {};
  const problems = checkDocument(document, toValidator(Document));
  if (problems.length > 0) throw new DocumentError(problems, document.text);
  const { settings, ...options } = document.value as Configuration;
  if (settings === undefined) return options;
  try {
    return { ...options, settings: parseSettings(settings) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { field = "settings" } = error.body as { field?: string };
    const steps = field.split(/[.[\]]+/).filter((step) => step !== "");
    const path = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    throw new DocumentError([locateProblem(document, { path, message: error.message })], document.text);
  }
}
