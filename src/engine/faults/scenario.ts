import type { AnyOperation } from "../contract/operation.ts";
import { toValidator } from "../contract/validator.ts";
import { checkDocument } from "../documents/check-document.ts";
import { type DocumentPath, type DocumentProblem, MAX_PROBLEMS } from "../documents/document-error.ts";
import { readDocument } from "../documents/read-document.ts";
import {
  locateProblem,
  type ProblemDetails,
  throwProblems,
  type UserDocument,
  type Warn,
} from "../documents/user-document.ts";
import { checkRule, findGlobProblem, findPatternProblem, type RuleApi } from "./check-rule.ts";
import { findDurationProblem } from "./effects/delay.ts";
import { findNearestCode, isCatalogueCode } from "./effects/error.ts";
import { type Rule, readRule } from "./rule.ts";
import {
  type ExpectDocument,
  type ExpectedMatch,
  NOT_IN_SCENARIOS,
  type RuleDocument,
  SCENARIO_NAME,
  ScenarioDocument,
  type StageDocument,
} from "./rule-document.ts";
import { readStage, type Stage, toStageRuleId } from "./stages.ts";

/** A scenario, checked and read. */
export interface Scenario {
  name: string;
  description: string | undefined;
  /** The scenario as it was written. */
  document: ScenarioDocument;
  /** The real path of its file, or the name of an opened sandbox's scenario; undefined for a derived one. */
  file: string | undefined;
  /** The rules of stages come last. */
  rules: readonly Rule[];
  /** Empty if the rules are active all the time. */
  stages: readonly Stage[];
  /** Checked by the suite runner against the journal. */
  expect: readonly ExpectDocument[];
}

/** The names of scenarios that exist. Any request may name one in a header, so a lookup must be cheap. */
export interface ScenarioNames {
  has(name: string): boolean;
  listNames(): readonly string[];
}

/** A sandbox in which scenarios are active. */
export interface ScenarioSubscriber {
  /** The names of its active scenarios. */
  readonly scenarios: readonly string[];
  /** Called when one of them was edited. */
  replaceScenario(scenario: Scenario): void;
}

/** The scenarios of a server's sandboxes, by name. */
export interface ScenarioSource {
  /** @throws UnknownScenarioError, or DocumentError for one that cannot be used */
  get(name: string): Scenario;
  /** Like `get`, but ignores an invalid later edit. @throws UnknownScenarioError, DocumentError */
  getLastGood(name: string): Scenario;
  has(name: string): boolean;
  readonly recentNames: ScenarioNames;
  /**
   * Reports edits of the subscriber's active scenarios until `unsubscribe`. Call it again when other scenarios become
   * active.
   */
  subscribe(subscriber: ScenarioSubscriber): void;
  unsubscribe(subscriber: ScenarioSubscriber): void;
}

/** In bytes. Scenarios are written by hand, so a larger file is probably not one. */
export const MAX_SCENARIO_BYTES = 2 * 1024 * 1024;

interface ScenarioText {
  text: string;
  /** The name of the file in messages. */
  displayName: string;
  /** The real path. */
  file: string;
  warn?: Warn | undefined;
}

/**
 * Reads and checks a scenario file (interfaces 6).
 * @throws DocumentError with file, line and column of every problem
 */
export function readScenario({ text, displayName, file, warn }: ScenarioText, api: RuleApi): Scenario {
  const limits = { maxBytes: MAX_SCENARIO_BYTES, maxScalar: 100_000 };
  const document = readDocument(text, { file: displayName, limits, warn });
  throwProblems(document, checkDocument(document, toValidator(ScenarioDocument)));
  const scenario = document.value as ScenarioDocument;
  const name = scenario.name ?? toScenarioName(file);
  throwProblems(document, findProblems(document, { scenario, name, api }));
  return toScenario(scenario, { name, file }, api.operations);
}

/** The scenario of a valid document. */
export function toScenario(
  document: ScenarioDocument,
  { name, file }: Pick<Scenario, "name" | "file">,
  operations: readonly AnyOperation[],
): Scenario {
  const { description, expect = [], stages = [] } = document;
  const rules = listRules(document).map(({ rule, id }) => readRule(rule, id, operations));
  return { name, description, document, file, rules, stages: stages.map(readStage), expect };
}

interface IdentifiedRule {
  rule: RuleDocument;
  id: string;
  path: DocumentPath;
}

/** All rules of a scenario with their ids, those of its stages last. */
function listRules({ rules = [], stages = [] }: ScenarioDocument): IdentifiedRule[] {
  const rulesWithoutStage = rules.map((rule, index) => {
    return { rule, id: rule.id ?? `rule-${index + 1}`, path: ["rules", index] };
  });
  const rulesOfStages = stages.flatMap((stage, position) =>
    (stage.rules ?? []).map((rule, index) => {
      const path = ["stages", position, "rules", index];
      return { rule, id: rule.id ?? toStageRuleId(stage, index), path };
    }),
  );
  return [...rulesWithoutStage, ...rulesOfStages];
}

function toScenarioName(file: string): string {
  return file.replace(/^.*[\\/]/, "").replace(/(?<=.)\.[^.]*$/, "");
}

function findProblems(
  document: UserDocument,
  { scenario, name, api }: { scenario: ScenarioDocument; name: string; api: RuleApi },
): DocumentProblem[] {
  const problems: ProblemDetails[] = [];
  if (!SCENARIO_NAME.test(name)) {
    const message = "the file's name is not a name for a scenario; give it one with `name:`";
    problems.push({ path: [], message });
  }
  const ids = new Set<string>();
  if (scenario.rules === undefined && scenario.stages === undefined)
    problems.push({ path: [], message: "the scenario needs `rules`, or `stages` with rules" });
  for (const { rule, id, path } of listRules(scenario)) {
    if (ids.has(id))
      problems.push({ path: [...path, "id"], message: `another rule is called ${id} already` });
    ids.add(id);
    problems.push(...checkRule(rule, path, api));
    if (problems.length >= MAX_PROBLEMS) break;
  }
  problems.push(...checkStages(scenario.stages ?? []));
  const checkExpectations = (expectations: readonly ExpectDocument[] = [], path: DocumentPath) => {
    for (const [index, expectation] of expectations.entries())
      problems.push(...checkExpectation(expectation, [...path, "expect", index], api.operations));
  };
  checkExpectations(scenario.expect, []);
  for (const [index, { expect }] of scenario.stages?.entries() ?? [])
    checkExpectations(expect, ["stages", index]);
  return problems.map((details) => locateProblem(document, details));
}

function checkStages(stages: readonly StageDocument[]): ProblemDetails[] {
  const problems: ProblemDetails[] = [];
  for (const [index, { name, until }] of stages.entries()) {
    const at = ["stages", index];
    if (stages.findIndex((one) => one.name === name) < index)
      problems.push({ path: [...at, "name"], message: `another stage is called ${name} already` });
    const timeProblem = until?.time === undefined ? undefined : findDurationProblem(until.time);
    if (timeProblem !== undefined)
      problems.push({
        path: [...at, "until", "time"],
        message: `\`until.time\` ${timeProblem.message}`,
        hint: timeProblem.hint,
      });
    if (until === undefined && index < stages.length - 1) {
      const message =
        "the stage needs `until: { requests }`, `{ time }` or `{ held: true }`; only the last one may go on for ever";
      problems.push({ path: at, message });
    }
  }
  return problems;
}

const KINDS_OF_EXPECTATION = ["match", "sequence", "client"] as const;

function checkExpectation(
  expectation: ExpectDocument,
  at: DocumentPath,
  operations: readonly AnyOperation[],
): ProblemDetails[] {
  const problems: ProblemDetails[] = [];
  const [kind, other] = KINDS_OF_EXPECTATION.filter((one) => expectation[one] !== undefined);
  if (kind === undefined || other !== undefined) {
    const message = "an expectation has one of `match`, `sequence` and `client`";
    problems.push({ path: other === undefined ? at : [...at, other], message, atKey: other !== undefined });
  }
  const { match, sequence = [], client = [], count } = expectation;
  if (count !== undefined && match === undefined)
    problems.push({ path: [...at, "count"], message: "`count` is for `match`", atKey: true });
  if (typeof count === "object" && (count.min ?? 0) > (count.max ?? Number.POSITIVE_INFINITY))
    problems.push({ path: [...at, "count"], message: "`count.min` must not be above `count.max`" });
  if (match !== undefined) problems.push(...checkExpectedMatch(match, [...at, "match"], operations));
  for (const [index, step] of sequence.entries())
    problems.push(...checkExpectedMatch(step, [...at, "sequence", index], operations));
  for (const [index, name] of client.entries()) {
    const reason = NOT_IN_SCENARIOS[name];
    if (reason !== undefined) {
      const message = `a scenario cannot expect ${name}: ${reason}; use \`understudy client-test\``;
      problems.push({ path: [...at, "client", index], message });
    }
  }
  return problems;
}

/** Reports a match that fits no possible request: an expectation of it with `count: 0` would always be met. */
function checkExpectedMatch(
  { operation, path, code }: ExpectedMatch,
  at: DocumentPath,
  operations: readonly AnyOperation[],
): ProblemDetails[] {
  const problems: ProblemDetails[] = [];
  const ids = operations.map(({ id }) => id);
  const operationProblem =
    operation === undefined ? undefined : findPatternProblem(operation, "operation", ids);
  if (operationProblem !== undefined) problems.push({ path: [...at, "operation"], ...operationProblem });
  const pathProblem = path === undefined ? undefined : findGlobProblem(path);
  if (pathProblem !== undefined) problems.push({ path: [...at, "path"], ...pathProblem });
  // The journal shows a rule's bare status as a code such as HTTP_503 (interfaces 6).
  if (code !== undefined && !isCatalogueCode(code) && !/^HTTP_[1-5]\d\d$/.test(code)) {
    const message = `${JSON.stringify(code.slice(0, 80))} is not a code of the catalogue`;
    problems.push({ path: [...at, "code"], message, hint: findNearestCode(code, operations) });
  }
  return problems;
}
