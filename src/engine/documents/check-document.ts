import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { toSteps } from "../contract/invalid-field.ts";
import { clip } from "../contract/text.ts";
import { makeAjv } from "../contract/validator.ts";
import { getOrAdd } from "../maps.ts";
import { type DocumentPath, type DocumentProblem, formatPath, MAX_PROBLEMS } from "./document-error.ts";
import { explainAlternatives } from "./explain-alternatives.ts";
import { explain } from "./schema-message.ts";
import { locateProblem, type ProblemDetails, type UserDocument } from "./user-document.ts";

// Finding a position costs time, so only the first of hundreds of errors get one.
const MAX_ERRORS = 200;

/**
 * Checks a document against a schema and describes each problem with its line and column (interfaces.md 2, 5 and 6): at
 * the key for a key that is not allowed, at the map for one that is missing. At most MAX_PROBLEMS, in the order of the
 * text; empty when the document is right.
 */
export function checkDocument(document: UserDocument, validate: ValidateFunction): DocumentProblem[] {
  if (validate(document.value) === true) return [];
  const problems = new Map<string, DocumentProblem>();
  for (const error of diagnose(document.value, validate).filter(isInformative).slice(0, MAX_ERRORS)) {
    const problem = locateProblem(document, describeError(error, document));
    problems.set(`${problem.line}:${problem.column}:${problem.message}`, problem);
  }
  return [...problems.values()].sort((a, b) => a.line - b.line || a.column - b.column).slice(0, MAX_PROBLEMS);
}

/** Keywords whose error only repeats that of one of their parts. */
const SUMMARIES = ["if", "anyOf", "oneOf"];

// The errors of a key's name are left out, since the error of `propertyNames` reports the key.
function isInformative({ keyword, propertyName }: ErrorObject): boolean {
  return !SUMMARIES.includes(keyword) && propertyName === undefined;
}

function describeError(error: ErrorObject, { value: root, text }: UserDocument): ProblemDetails {
  const place = toPath(error.instancePath, root);
  const { message: explanation, hint, key } = explain(error);
  const isEmpty = root === null && text !== undefined;
  const message = isEmpty ? explanation.replace(/, not null$/, ", but it is empty") : explanation;
  const path = key === undefined ? place : [...place, key];
  return { path, message: `${nameField(place)} ${message}`, hint, pointsAtKey: key !== undefined };
}

function nameField(path: DocumentPath): string {
  return path.length === 0 ? "the document" : `\`${clip(formatPath(path), 120)}\``;
}

function toPath(instancePath: string, root: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let value: unknown = root;
  for (const step of toSteps(instancePath)) {
    path.push(Array.isArray(value) ? Number(step) : step);
    value = (value as Record<string, unknown> | null | undefined)?.[step];
  }
  return path;
}

let ajv: Ajv2020 | undefined;
const thoroughValidators = new WeakMap<object, ValidateFunction | null>();

/**
 * Every error of a value that a validator refused, in a form fit for messages: with the schema and the data at
 * fault, and with `anyOf` and `oneOf` reduced to the branch that was most likely meant. A second validator of the
 * schema, compiled at its first use, finds them, so that the given one may stop at the first error. After
 * MAX_ERRORS errors of unions, further unions are left out.
 */
export function diagnose(value: unknown, validate: ValidateFunction): readonly ErrorObject[] {
  const thorough = getThoroughValidator(validate.schema);
  if (thorough === null || thorough(value) === true) return validate.errors ?? [];
  return removeRepeated(explainUnions(thorough.errors ?? []));
}

/** Removes an error about a type if another one lists the allowed values, which says more. */
function removeRepeated(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const lists = errors.filter(({ keyword }) => keyword === "enum" || keyword === "const");
  const isRepeated = ({ keyword, parentSchema, instancePath }: ErrorObject) =>
    keyword === "type" &&
    lists.some((error) => error.parentSchema === parentSchema && error.instancePath === instancePath);
  return lists.length === 0 ? errors : errors.filter((error) => !isRepeated(error));
}

function getThoroughValidator(schema: unknown): ValidateFunction | null {
  if (typeof schema !== "object" || schema === null) return null;
  return getOrAdd(thoroughValidators, schema, () => {
    ajv ??= makeAjv({ allErrors: true, verbose: true });
    try {
      return ajv.compile(schema);
    } catch {
      // A schema cannot be compiled here if it uses schemas or keywords that only the ajv instance of its validator
      // knows; then the validator's errors are used.
      return null;
    }
  });
}

/**
 * Replaces the error of each union, and those of its branches, by errors that explain it. ajv lists a union's error right
 * after those of its branches. Errors behind a `$ref` do not say which branch they come from, and stay as they are.
 */
function explainUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const explained: ErrorObject[] = [];
  const unionErrors = new Set<ErrorObject>();
  for (const error of errors) {
    if (error.keyword !== "anyOf" && error.keyword !== "oneOf") {
      explained.push(error);
      continue;
    }
    const start = explained.findLastIndex((earlier) => !isWithin(earlier, error)) + 1;
    const inner = explained.splice(start);
    for (const branchError of inner) unionErrors.delete(branchError);
    if (unionErrors.size >= MAX_ERRORS) continue;
    for (const branchError of explainUnion(error, inner)) {
      explained.push(branchError);
      unionErrors.add(branchError);
    }
  }
  return explained;
}

function isWithin({ schemaPath, instancePath }: ErrorObject, union: ErrorObject): boolean {
  return (
    schemaPath.startsWith(`${union.schemaPath}/`) && `${instancePath}/`.startsWith(`${union.instancePath}/`)
  );
}

function explainUnion(union: ErrorObject, inner: readonly ErrorObject[]): readonly ErrorObject[] {
  const branches = (union.schema as unknown[]).map((schema, index) => ({
    schema,
    errors: inner.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/${index}/`)),
  }));
  const fitting = (union.params["passingSchemas"] ?? []) as number[];
  // A branch without errors fits, or its errors are behind a `$ref`.
  const hasAllErrors = fitting.length > 1 || branches.every(({ errors }) => errors.length > 0);
  return hasAllErrors ? explainAlternatives(branches, union) : inner;
}
