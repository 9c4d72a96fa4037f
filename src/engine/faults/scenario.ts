import type { AnyOperation } from "../contract/operation.ts";
import { toValidator } from "../contract/validator.ts";
import { checkDocument } from "../documents/check-document.ts";
import { type DocumentPath, type DocumentProblem, MAX_PROBLEMS } from "../documents/document-error.ts";
import { findGlobProblem } from "../documents/glob.ts";
import { readDocument } from "../documents/read-document.ts";
import {
  locateProblem,
  type ProblemDetails,
  throwProblems,
  type UserDocument,
  type Warn,
} from "../documents/user-document.ts";
import {
  checkRule,
  findParameterProblem,
  findPatternProblem,
  type Report,
  type RuleApi,
} from "./check-rule.ts";
import { findPeriodProblem } from "./effects/delay.ts";
import { findNearestCode, isJournalCode } from "./effects/error.ts";
import { type Rule, readRule } from "./rule.ts";
import {
  type ExpectDocument,
  type ExpectedMatch,
  NOT_IN_SCENARIOS,
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
  /** The real path of its file; its name if it came with a saved sandbox; undefined for one of an operation's documented errors. */
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
  /** Called when one of them was edited. Returns whether that changes its rules. */
  replaceScenario(scenario: Scenario): boolean;
}

/** The scenarios of a server's sandboxes, by name. */
export interface ScenarioSource {
  /**
   * While a sandbox has the scenario active, ignores an invalid later edit.
   * @throws UnknownScenarioError, or DocumentError for one that cannot be used
   */
  get(name: string): Scenario;
  /** Like `get`, but always ignores an invalid later edit. @throws UnknownScenarioError, DocumentError */
  getLastGood(name: string): Scenario;
  has(name: string): boolean;
  /** Whether there is a scenario of this name that is not derived from operations. */
  hasWritten(name: string): boolean;
  /** The scenarios of sandboxes that were opened from saved files. */
  readonly openedScenarios: ReadonlyMap<string, Scenario>;
  /**
   * Adds a scenario of an opened file, or replaces an unused one; returns whether its name is new.
   * @param api by default the server's
   * @throws DocumentError
   */
  addDocument(name: string, document: object, api?: RuleApi): boolean;
  /** New files appear here after a second at the latest. */
  readonly cachedNames: ScenarioNames;
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
 * Reads and checks a scenario file (interfaces.md 6).
 * @throws DocumentError with file, line and column of every problem
 */
export function readScenario({ text, displayName, file, warn }: ScenarioText, api: RuleApi): Scenario {
  const limits = { maxBytes: MAX_SCENARIO_BYTES, maxScalar: 100_000 };
  const document = readDocument(text, { file: displayName, limits, warn });
  throwProblems(checkDocument(document, toValidator(ScenarioDocument)), document);
  const scenario = document.value as ScenarioDocument;
  const name = scenario.name ?? toScenarioName(file);
  throwProblems(findProblems(document, { scenario, name, api }), document);
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

/** All rules of a scenario with their ids, those of its stages last. */
function listRules({ rules = [], stages = [] }: ScenarioDocument) {
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
  const report: Report = (path, message, more) => problems.push({ ...more, path, message });
  if (!SCENARIO_NAME.test(name))
    report([], "the file's name cannot be the name of a scenario; set one with `name:`");
  if (scenario.rules === undefined && scenario.stages === undefined)
    report([], "the scenario needs `rules`, or `stages` with rules");
  const ids = new Set<string>();
  for (const { rule, id, path } of listRules(scenario)) {
    if (ids.has(id)) report([...path, "id"], `another rule is called ${id} already`);
    ids.add(id);
    problems.push(...checkRule(rule, path, api));
    if (problems.length >= MAX_PROBLEMS) break;
  }
  checkStages(scenario.stages ?? [], report);
  const checkExpectations = (expectations: readonly ExpectDocument[] = [], path: DocumentPath) => {
    for (const [index, expectation] of expectations.entries())
      checkExpectation(expectation, [...path, "expect", index], { api, isInStage: path.length > 0, report });
  };
  checkExpectations(scenario.expect, []);
  for (const [index, { expect }] of scenario.stages?.entries() ?? [])
    checkExpectations(expect, ["stages", index]);
  return problems.map((details) => locateProblem(document, details));
}

function checkStages(stages: readonly StageDocument[], report: Report): void {
  for (const [index, { name, until }] of stages.entries()) {
    const at = ["stages", index];
    if (stages.findIndex((one) => one.name === name) < index)
      report([...at, "name"], `another stage is called ${name} already`);
    const timeProblem = until?.time === undefined ? undefined : findPeriodProblem(until.time);
    if (timeProblem !== undefined)
      report([...at, "until", "time"], `\`until.time\` ${timeProblem.message}`, timeProblem);
    if (until === undefined && index < stages.length - 1)
      report(
        at,
        "the stage needs `until: { requests }`, `{ time }` or `{ held: true }`; only the last one may go on for ever",
      );
  }
}

const KINDS_OF_EXPECTATION = ["match", "sequence", "client"] as const;

interface CheckContext {
  api: RuleApi;
  isInStage: boolean;
  report: Report;
}

function checkExpectation(expectation: ExpectDocument, at: DocumentPath, context: CheckContext): void {
  const { report } = context;
  const [kind, other] = KINDS_OF_EXPECTATION.filter((one) => expectation[one] !== undefined);
  if (kind === undefined || other !== undefined) {
    const message = "an expectation has one of `match`, `sequence` and `client`";
    report(other === undefined ? at : [...at, other], message, { pointsAtKey: other !== undefined });
  }
  const { match, sequence = [], client = [], count, strict } = expectation;
  if (count !== undefined && match === undefined)
    report([...at, "count"], "`count` is for `match`", { pointsAtKey: true });
  if (strict !== undefined && expectation.sequence === undefined)
    report([...at, "strict"], "`strict` is for `sequence`", { pointsAtKey: true });
  if (typeof count === "object" && (count.min ?? 0) > (count.max ?? Number.POSITIVE_INFINITY))
    report([...at, "count"], "`count.min` must not be above `count.max`");
  if (match !== undefined) checkExpectedMatch(match, [...at, "match"], context);
  for (const [index, step] of sequence.entries())
    checkExpectedMatch(step, [...at, "sequence", index], context);
  for (const [index, name] of client.entries()) {
    const reason = NOT_IN_SCENARIOS[name];
    if (reason === undefined) continue;
    const message = `a scenario cannot expect ${name}: ${reason}; use \`understudy client-test\``;
    report([...at, "client", index], message);
  }
}

/** Reports a match that fits no possible request: an expectation of it with `count: 0` would always be met. */
function checkExpectedMatch(match: ExpectedMatch, at: DocumentPath, context: CheckContext): void {
  const { operation, path, code, event } = match;
  const { report } = context;
  const { operations, events } = context.api;
  const eventNames = events.map(({ name }) => name);
  const eventProblem = event === undefined ? undefined : findPatternProblem(event, "event", eventNames);
  if (eventProblem !== undefined) report([...at, "event"], eventProblem.message, eventProblem);
  checkDeliveryKeys(match, at, context);
  const ids = operations.map(({ id }) => id);
  const operationProblem =
    operation === undefined ? undefined : findPatternProblem(operation, "operation", ids);
  if (operationProblem !== undefined)
    report([...at, "operation"], operationProblem.message, operationProblem);
  const pathProblem =
    path === undefined ? undefined : (findGlobProblem(path)?.message ?? findParameterProblem(path));
  if (pathProblem !== undefined) report([...at, "path"], pathProblem);
  if (code !== undefined && !isJournalCode(code)) {
    const message = `${JSON.stringify(code.slice(0, 80))} is not a code of the catalogue`;
    report([...at, "code"], message, { hint: findNearestCode(code, operations) });
  }
}

/** Reports keys that cannot be combined with a match of deliveries, and such a match in a stage. */
function checkDeliveryKeys(
  match: ExpectedMatch,
  at: DocumentPath,
  { isInStage, report }: CheckContext,
): void {
  const [deliveryKey] = (["event", "webhook", "attempt"] as const).filter((key) => match[key] !== undefined);
  if (deliveryKey === undefined) return;
  for (const key of ["operation", "code", "principal"] as const) {
    const message = `\`${key}\` is about requests, and \`${deliveryKey}\` about deliveries`;
    if (match[key] !== undefined) report([...at, key], message, { pointsAtKey: true });
  }
  const message = "a delivery belongs to no stage; put this into the `expect` of the scenario";
  if (isInStage) report([...at, deliveryKey], message, { pointsAtKey: true });
}
