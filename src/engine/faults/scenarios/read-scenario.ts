import { basename, extname } from "node:path";
import type { DeclaredApi } from "../../contract/declared-api.ts";
import type { AnyOperation } from "../../contract/operation.ts";
import { validatorOf } from "../../contract/validator.ts";
import { checkDocument } from "../../documents/check-document.ts";
import { type DocumentProblem, MAX_PROBLEMS } from "../../documents/document-error.ts";
import {
  type ProblemDetails,
  problemAt,
  readDocument,
  throwProblems,
  type UserDocument,
} from "../../documents/read-document.ts";
import { checkRule } from "../rules/check-rule.ts";
import { readRule } from "../rules/rule.ts";
import { SCENARIO_NAME, ScenarioDocument } from "../rules/rule-schema.ts";
import { checkExpectation } from "./check-expectation.ts";
import type { Scenario } from "./scenario.ts";

/** A scenario is written by hand; what is larger than this is something else. */
export const MAX_SCENARIO_BYTES = 2 * 1024 * 1024;

export interface ScenarioText {
  text: string;
  /** As messages show it. */
  shown: string;
  /** The real path. */
  file: string;
}

/**
 * Reads and checks a scenario file (interfaces 6).
 * @throws DocumentError with file, line and column of every problem
 */
export function readScenario({ text, shown, file }: ScenarioText, api: DeclaredApi): Scenario {
  const limits = { maxBytes: MAX_SCENARIO_BYTES, maxScalar: 100_000 };
  const document = readDocument(text, { file: shown, limits });
  throwProblems(document, checkDocument(document, validatorOf(ScenarioDocument)));
  const scenario = document.value as ScenarioDocument;
  const name = nameOf(scenario, file);
  throwProblems(document, problemsOf(document, { scenario, name, api }));
  return scenarioOf(scenario, { file }, api.operations);
}

/** The scenario of a document in which nothing is wrong. */
export function scenarioOf(
  scenario: ScenarioDocument,
  { file }: Pick<ScenarioText, "file">,
  operations: readonly AnyOperation[],
): Scenario {
  return {
    name: nameOf(scenario, file),
    description: scenario.description,
    file,
    rules: scenario.rules.map((rule, index) => readRule(rule, idOf(rule, index), operations)),
    expect: scenario.expect ?? [],
  };
}

function nameOf({ name }: ScenarioDocument, file: string): string {
  return name ?? basename(file, extname(file));
}

function problemsOf(
  document: UserDocument,
  { scenario, name, api }: { scenario: ScenarioDocument; name: string; api: DeclaredApi },
): DocumentProblem[] {
  const found: ProblemDetails[] = [];
  if (!SCENARIO_NAME.test(name)) {
    found.push({ path: [], message: "the file's name is no name for a scenario; give it one with `name:`" });
  }
  const ids = new Set<string>();
  for (const [index, rule] of scenario.rules.entries()) {
    const id = idOf(rule, index);
    if (ids.has(id))
      found.push({ path: ["rules", index, "id"], message: `another rule is called ${id} already` });
    ids.add(id);
    found.push(...checkRule(rule, ["rules", index], api));
    if (found.length >= MAX_PROBLEMS) break;
  }
  for (const [index, expectation] of (scenario.expect ?? []).entries()) {
    found.push(...checkExpectation(expectation, ["expect", index], api.operations));
  }
  return found.map((details) => problemAt(document, details));
}

function idOf({ id }: { id?: string }, index: number): string {
  return id ?? `rule-${index + 1}`;
}
