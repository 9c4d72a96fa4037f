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
import { readStage, type Stage, stageRuleId } from "./stages.ts";

/** A scenario, checked and read. */
export interface Scenario {
  name: string;
  description: string | undefined;
  /** The scenario as it was written. */
  document: ScenarioDocument;
  /** The real path of its file; undefined for one that is derived from the operations. */
  file: string | undefined;
  /** The rules of stages come last. */
  rules: readonly Rule[];
  /** Empty: its rules are in force all the time. */
  stages: readonly Stage[];
  /** Checked by the suite runner against the journal. */
  expect: readonly ExpectDocument[];
}

/** Any request may send these names, so a lookup must be cheap. */
export interface ScenarioNames {
  has(name: string): boolean;
  listNames(): readonly string[];
}

/** A sandbox in which scenarios are active. */
export interface ScenarioUser {
  /** The names of its active scenarios. */
  readonly scenarios: readonly string[];
  /** Called when one of them was edited. */
  renew(scenario: Scenario): void;
}

/** The scenarios of a server's sandboxes, by name. */
export interface ScenarioSource {
  /** @throws UnknownScenario, or DocumentError for one that cannot be used */
  get(name: string): Scenario;
  /** Like `get`, but ignores an invalid later edit. @throws UnknownScenario, DocumentError */
  getLastGood(name: string): Scenario;
  has(name: string): boolean;
  readonly recentNames: ScenarioNames;
  /** Reports edits of the scenarios that are active in `user`, until `release`; call it again when they change. */
  use(user: ScenarioUser): void;
  release(user: ScenarioUser): void;
}

/** In bytes. Scenarios are written by hand, so a larger file is probably not one. */
export const MAX_SCENARIO_BYTES = 2 * 1024 * 1024;

export interface ScenarioText {
  text: string;
  /** The form for messages. */
  shown: string;
  /** The real path. */
  file: string;
  warn?: Warn | undefined;
}

/**
 * Reads and checks a scenario file (interfaces 6).
 * @throws DocumentError with file, line and column of every problem
 */
export function readScenario({ text, shown, file, warn }: ScenarioText, api: RuleApi): Scenario {
  const limits = { maxBytes: MAX_SCENARIO_BYTES, maxScalar: 100_000 };
  const document = readDocument(text, { file: shown, limits, warn });
  throwProblems(document, checkDocument(document, toValidator(ScenarioDocument)));
  const written = document.value as ScenarioDocument;
  const name = written.name ?? nameFromPath(file);
  throwProblems(document, findProblems(document, { written, name, api }));
  return toScenario(written, { name, file }, api.operations);
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

interface WrittenRule {
  rule: RuleDocument;
  id: string;
  at: DocumentPath;
}

function listRules({ rules = [], stages = [] }: ScenarioDocument): WrittenRule[] {
  const always = rules.map((rule, index) => ({
    ...{ rule, id: rule.id ?? `rule-${index + 1}`, at: ["rules", index] },
  }));
  const staged = stages.map((stage, position) =>
    (stage.rules ?? []).map((rule, index) => ({
      ...{ rule, id: rule.id ?? stageRuleId(stage, index), at: ["stages", position, "rules", index] },
    })),
  );
  return [...always, ...staged.flat()];
}

function nameFromPath(file: string): string {
  return file.replace(/^.*[\\/]/, "").replace(/(?<=.)\.[^.]*$/, "");
}

function findProblems(
  document: UserDocument,
  { written, name, api }: { written: ScenarioDocument; name: string; api: RuleApi },
): DocumentProblem[] {
  const found: ProblemDetails[] = [];
  if (!SCENARIO_NAME.test(name)) {
    found.push({
      path: [],
      message: "the file's name is not a name for a scenario; give it one with `name:`",
    });
  }
  const ids = new Set<string>();
  if (written.rules === undefined && written.stages === undefined)
    found.push({ path: [], message: "the scenario needs `rules`, or `stages` with rules" });
  for (const { rule, id, at } of listRules(written)) {
    if (ids.has(id)) found.push({ path: [...at, "id"], message: `another rule is called ${id} already` });
    ids.add(id);
    found.push(...checkRule(rule, at, api));
    if (found.length >= MAX_PROBLEMS) break;
  }
  found.push(...checkStages(written.stages ?? []));
  for (const { expect, at } of [{ ...written, at: [] }, ...listStages(written)])
    for (const [index, expectation] of (expect ?? []).entries())
      found.push(...checkExpectation(expectation, [...at, "expect", index], api.operations));
  return found.map((details) => locateProblem(document, details));
}

function listStages({ stages = [] }: ScenarioDocument) {
  return stages.map((stage, index) => ({ ...stage, at: ["stages", index] as DocumentPath }));
}

function checkStages(stages: readonly StageDocument[]): ProblemDetails[] {
  const found: ProblemDetails[] = [];
  for (const [index, { name, until }] of stages.entries()) {
    const at = ["stages", index];
    if (stages.findIndex((one) => one.name === name) < index)
      found.push({ path: [...at, "name"], message: `another stage is called ${name} already` });
    const wrong = until?.time === undefined ? undefined : findDurationProblem(until.time);
    if (wrong !== undefined)
      found.push({
        path: [...at, "until", "time"],
        message: `\`until.time\` ${wrong.message}`,
        hint: wrong.hint,
      });
    if (until === undefined && index < stages.length - 1) {
      const message =
        "the stage needs `until: { requests }`, `{ time }` or `{ held: true }`; only the last one may go on for ever";
      found.push({ path: at, message });
    }
  }
  return found;
}

const KINDS_OF_EXPECTATION = ["match", "sequence", "client"] as const;

function checkExpectation(
  expectation: ExpectDocument,
  at: DocumentPath,
  operations: readonly AnyOperation[],
): ProblemDetails[] {
  const found: ProblemDetails[] = [];
  const [kind, other] = KINDS_OF_EXPECTATION.filter((one) => expectation[one] !== undefined);
  if (kind === undefined || other !== undefined) {
    const message = "an expectation has one of `match`, `sequence` and `client`";
    found.push({ path: other === undefined ? at : [...at, other], message, atKey: other !== undefined });
  }
  const { match, sequence = [], client = [], count } = expectation;
  if (count !== undefined && match === undefined)
    found.push({ path: [...at, "count"], message: "`count` is for `match`", atKey: true });
  if (typeof count === "object" && (count.min ?? 0) > (count.max ?? Number.POSITIVE_INFINITY)) {
    found.push({ path: [...at, "count"], message: "`count.min` must not be above `count.max`" });
  }
  if (match !== undefined) found.push(...checkMatch(match, [...at, "match"], operations));
  for (const [index, step] of sequence.entries())
    found.push(...checkMatch(step, [...at, "sequence", index], operations));
  for (const [index, name] of client.entries()) {
    const why = NOT_IN_SCENARIOS[name];
    if (why !== undefined) {
      const message = `a scenario cannot expect ${name}: ${why}; use \`understudy client-test\``;
      found.push({ path: [...at, "client", index], message });
    }
  }
  return found;
}

/** A match that no journal can meet is refused: its `count: 0` would always hold. */
function checkMatch(
  { operation, path, code }: ExpectedMatch,
  at: DocumentPath,
  operations: readonly AnyOperation[],
): ProblemDetails[] {
  const found: ProblemDetails[] = [];
  const ids = operations.map(({ id }) => id);
  const wrongOperation =
    operation === undefined ? undefined : findPatternProblem(operation, "operation", ids);
  if (wrongOperation !== undefined) found.push({ path: [...at, "operation"], ...wrongOperation });
  const wrongPath = path === undefined ? undefined : findGlobProblem(path);
  if (wrongPath !== undefined) found.push({ path: [...at, "path"], ...wrongPath });
  // The journal shows a rule's bare status as a code such as HTTP_503 (interfaces 6).
  if (code !== undefined && !isCatalogueCode(code) && !/^HTTP_[1-5]\d\d$/.test(code)) {
    const message = `${JSON.stringify(code.slice(0, 80))} is not a code of the catalogue`;
    found.push({ path: [...at, "code"], message, hint: findNearestCode(code, operations) });
  }
  return found;
}
