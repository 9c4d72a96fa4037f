import { basename, extname } from "node:path";
import type { AnyOperation } from "../contract/operation.ts";
import { checkDocument } from "../documents/check-document.ts";
import { type DocumentProblem, MAX_PROBLEMS } from "../documents/document-error.ts";
import { GlobError, glob, isGlob } from "../documents/glob.ts";
import { nearest } from "../documents/nearest.ts";
import {
  type ProblemDetails,
  problemAt,
  readDocument,
  throwProblems,
  type UserDocument,
} from "../documents/read-document.ts";
import { validatorOf } from "../http/validate.ts";
import { checkRule } from "./check-rule.ts";
import { readRule } from "./rule.ts";
import { SCENARIO_NAME, ScenarioDocument } from "./rule-schema.ts";
import type { Scenario } from "./scenario.ts";

/** A scenario is written by hand; what is larger than this is something else. */
const LARGEST = 2 * 1024 * 1024;

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
export function readScenario(
  { text, shown, file }: ScenarioText,
  operations: readonly AnyOperation[],
): Scenario {
  const document = readDocument(text, { file: shown, limits: { maxBytes: LARGEST, maxScalar: 100_000 } });
  throwProblems(document, checkDocument(document, validatorOf(ScenarioDocument)));
  const scenario = document.value as ScenarioDocument;
  const name = scenario.name ?? basename(file, extname(file));
  throwProblems(document, problemsOf(document, { scenario, name, operations }));
  return {
    name,
    description: scenario.description,
    file,
    rules: scenario.rules.map((rule, index) => readRule(rule, idOf(rule, index), operations)),
    expect: scenario.expect ?? [],
  };
}

function problemsOf(
  document: UserDocument,
  {
    scenario,
    name,
    operations,
  }: { scenario: ScenarioDocument; name: string; operations: readonly AnyOperation[] },
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
    found.push(...checkRule(rule, ["rules", index], operations));
    if (found.length >= MAX_PROBLEMS) break;
  }
  for (const [index, { match }] of (scenario.expect ?? []).entries()) {
    const problem = match.operation === undefined ? undefined : unknownOperation(match.operation, operations);
    if (problem !== undefined) found.push({ path: ["expect", index, "match", "operation"], ...problem });
  }
  return found.map((details) => problemAt(document, details));
}

function unknownOperation(pattern: string, operations: readonly AnyOperation[]) {
  try {
    if (operations.map(({ id }) => id).some(glob(pattern))) return undefined;
  } catch (error) {
    if (error instanceof GlobError) return { message: `the pattern cannot be used: ${error.message}` };
    throw error;
  }
  const what = isGlob(pattern) ? "matches no operation" : "is no operation";
  const hint = nearest(
    pattern,
    operations.map(({ id }) => id),
  );
  return { message: `${JSON.stringify(pattern.slice(0, 80))} ${what}`, hint };
}

function idOf({ id }: { id?: string }, index: number): string {
  return id ?? `rule-${index + 1}`;
}
