import { readFileSync } from "node:fs";
import Type from "typebox";
import { checkSettings, SettingsInput } from "../control/check-settings.ts";
import { Problem } from "../control/problem.ts";
import { Closed } from "../engine/contract/schema.ts";
import { toValidator } from "../engine/contract/validator.ts";
import { checkDocument } from "../engine/documents/check-document.ts";
import { DocumentError } from "../engine/documents/document-error.ts";
import { problemAt, readDocument } from "../engine/documents/read-document.ts";
import { UsageError } from "./failure.ts";
import type { Configuration } from "./start-flags.ts";

const Texts = Type.Array(Type.String({ minLength: 1 }));

const Document = Closed({
  port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
  host: Type.Optional(Type.String({ minLength: 1 })),
  fixture: Type.Optional(Type.String({ minLength: 1 })),
  scenario: Type.Optional(Texts),
  scenarios: Type.Optional(Type.String({ minLength: 1 })),
  seed: Type.Optional(Type.Integer({ minimum: 0 })),
  clock: Type.Optional(Type.String({ minLength: 1 })),
  delay: Type.Optional(Type.String({ minLength: 1 })),
  persist: Type.Optional(Type.String({ minLength: 1 })),
  durable: Type.Optional(Type.Boolean()),
  store: Type.Optional(Type.String({ minLength: 1 })),
  "node-url": Type.Optional(Type.String({ minLength: 1 })),
  shared: Type.Optional(Type.Boolean()),
  "allow-host": Type.Optional(Texts),
  "max-sandboxes": Type.Optional(Type.Integer({ minimum: 1 })),
  "allow-webhook": Type.Optional(Texts),
  overrides: Type.Optional(Type.Boolean()),
  watch: Type.Optional(Type.Boolean()),
  quiet: Type.Optional(Type.Boolean()),
  "ready-file": Type.Optional(Type.String({ minLength: 1 })),
  settings: Type.Optional(SettingsInput),
});

/**
 * The configuration file of interfaces 2, checked as the flags and the control API check theirs.
 * @throws DocumentError with file, line and column; UsageError when the file cannot be read
 */
export function readConfiguration(file: string): Configuration {
  const document = readDocument(read(file), { file });
  if (document.value === null) return {};
  const problems = checkDocument(document, toValidator(Document));
  if (problems.length > 0) throw new DocumentError(problems, document.text);
  const { settings, ...options } = document.value as Configuration;
  if (settings === undefined) return options;
  try {
    return { ...options, settings: checkSettings(settings) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { field = "settings" } = error.body as { field?: string };
    const path = field.split(/[.[\]]+/).filter((step) => step !== "");
    const at = path.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    throw new DocumentError([problemAt(document, { path: at, message: error.message })], document.text);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read the configuration ${file}: ${(error as Error).message}`);
  }
}
