import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { makeAjv } from "../contract/validator.ts";
import { clip, type DocumentPath, type DocumentProblem, formatPath, MAX_PROBLEMS } from "./document-error.ts";
import { nearest } from "./nearest.ts";
import { type ProblemDetails, problemAt, type UserDocument } from "./read-document.ts";
import { type Branch, explain, explainAlternatives } from "./schema-message.ts";

export interface CheckOptions {
  /**
   * Lists that a schema cannot hold, by the place whose texts must be among them: `rules[].match.event`,
   * where `[]` is any item and `*` any key. Anything but a text there is the schema's business.
   */
  knownValues?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Checks a document against a schema and says in plain words what is wrong, each problem at its line and column
 * (interfaces 2, 5 and 6): at the key for a key that is not allowed, at the map for one that is missing. At most
 * MAX_PROBLEMS, in the order of the text; empty when the document is right.
 */
export function checkDocument(
  document: UserDocument,
  validate: ValidateFunction,
  options: CheckOptions = {},
): DocumentProblem[] {
  const details: ProblemDetails[] = [];
  if (validate(document.value) !== true) {
    const errors = diagnose(document.value, validate).filter((error) => !isSummary(error));
    for (const error of errors.slice(0, MAX_ERRORS)) details.push(describeError(error, document.value));
  }
  for (const [place, known] of Object.entries(options.knownValues ?? {}))
    details.push(...unknownValues(document.value, place, known));
  return inOrder(details.map((detail) => problemAt(document, detail)));
}

// Finding a place costs time; a document with hundreds of errors needs no order among the last of them.
const MAX_ERRORS = 200;

// `if` only says that `then` or `else` failed; what a key's name has against it, `propertyNames` sums up.
function isSummary(error: ErrorObject): boolean {
  return error.keyword === "if" || error.propertyName !== undefined;
}

function describeError(error: ErrorObject, root: unknown): ProblemDetails {
  const place = toPath(error.instancePath, root);
  const { message, hint, key } = explain(error);
  const path = key === undefined ? place : [...place, key];
  return { path, message: `${nameField(place)} ${message}`, hint, atKey: key !== undefined };
}

function nameField(path: DocumentPath): string {
  return path.length === 0 ? "the document" : `\`${clip(formatPath(path), 120)}\``;
}

function toPath(instancePath: string, root: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let value: unknown = root;
  for (const part of instancePath.split("/").slice(1)) {
    const step = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(value) ? Number(step) : step);
    value = (value as Record<string, unknown> | null | undefined)?.[step];
  }
  return path;
}

function unknownValues(root: unknown, place: string, known: readonly string[]): ProblemDetails[] {
  const allowed = new Set(known);
  const details: ProblemDetails[] = [];
  for (const { path, value } of valuesAt(root, place)) {
    if (details.length >= MAX_PROBLEMS) break;
    if (typeof value !== "string" || allowed.has(value)) continue;
    const message = `${nameField(path)} names ${JSON.stringify(clip(value, 60))}, which is not known`;
    details.push({ path, message, hint: nearest(value, known) });
  }
  return details;
}

interface Found {
  path: (string | number)[];
  value: unknown;
}

function valuesAt(root: unknown, place: string): Found[] {
  let found: Found[] = [{ path: [], value: root }];
  for (const step of place.match(/\[\]|[^.[\]]+/g) ?? []) found = found.flatMap((from) => follow(from, step));
  return found;
}

function follow({ path, value }: Found, step: string): Found[] {
  if (Array.isArray(value))
    return step === "[]" ? value.map((item, index) => ({ path: [...path, index], value: item })) : [];
  if (typeof value !== "object" || value === null || step === "[]") return [];
  const keys = step === "*" ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : [];
  return keys.map((key) => ({ path: [...path, key], value: (value as Record<string, unknown>)[key] }));
}

function inOrder(problems: readonly DocumentProblem[]): DocumentProblem[] {
  const seen = new Map<string, DocumentProblem>();
  for (const problem of problems) {
    const key = `${problem.line}:${problem.column}:${problem.message}`;
    if (!seen.has(key)) seen.set(key, problem);
  }
  return [...seen.values()].sort((a, b) => a.line - b.line || a.column - b.column).slice(0, MAX_PROBLEMS);
}

const diagnoses = new WeakMap<object, ValidateFunction | null>();
/** Where the parts of a schema stand, as `root#/pointer`. */
const places = new WeakMap<object, string>();
let ajv: Ajv2020 | undefined;
let roots = 0;

/** ajv copies all errors so far for each that a keyword of ours adds: 300,000 of them took it minutes. */
const MAX_EXPLAINED = 200;
let explained = 0;

/**
 * Every error of a value that a validator refused, in a form fit for messages: with the schema and the data at
 * fault, and with `anyOf` and `oneOf` reduced to the branch that was most likely meant. The schema is compiled a
 * second time for it, once, so that the validator itself may stay lean and stop at the first error. Of unions that
 * are not met, only the first MAX_EXPLAINED are reported.
 */
export function diagnose(value: unknown, validate: ValidateFunction): readonly ErrorObject[] {
  const plain = validate.errors ?? [];
  const thorough = thoroughValidator(validate.schema);
  explained = 0;
  try {
    if (thorough === null || thorough(value) === true) return plain;
    return unwrap(thorough.errors ?? plain);
  } catch {
    return plain;
  }
}

function thoroughValidator(schema: unknown): ValidateFunction | null {
  if (typeof schema !== "object" || schema === null) return null;
  const known = diagnoses.get(schema);
  if (known !== undefined) return known;
  const compiled = compileThoroughly(schema as Record<string, unknown>);
  diagnoses.set(schema, compiled);
  return compiled;
}

// A schema that leans on other schemas or keywords of its owner's ajv cannot be compiled here; its own errors do.
function compileThoroughly(schema: Record<string, unknown>): ValidateFunction | null {
  ajv ??= thoroughAjv();
  const root = `document-${++roots}`;
  try {
    notePlaces(schema, root);
    return ajv.addSchema(schema, root).getSchema(root) ?? null;
  } catch {
    ajv.removeSchema(root);
    return null;
  }
}

function thoroughAjv(): Ajv2020 {
  const made = makeAjv({ allErrors: true, verbose: true });
  for (const keyword of ["anyOf", "oneOf"] as const) replaceKeyword(made, keyword);
  return made;
}

// ajv reports the errors of all branches in one flat list from which they cannot be separated once a branch
// is a `$ref`. These keywords of ours judge branch by branch and report only what explains the failure.
function replaceKeyword(ajv: Ajv2020, keyword: "anyOf" | "oneOf"): void {
  ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword,
    schemaType: "array",
    errors: "full",
    compile: (schemas: unknown[]) => {
      let branches: ValidateFunction[] | undefined;
      return function judge(this: unknown, data: unknown, context) {
        if (explained >= MAX_EXPLAINED) return true;
        const before = explained;
        branches ??= schemas.map((_, index) => branchValidator(ajv, `${places.get(schemas)}/${index}`));
        const judged = branches.map((branch, index): Branch => {
          const valid = branch(data, context) === true;
          return { schema: schemas[index], errors: valid ? [] : unwrap(branch.errors ?? []) };
        });
        const passing = judged.filter((branch) => branch.errors.length === 0).length;
        const isMet = keyword === "anyOf" ? passing > 0 : passing === 1;
        // Errors of the inner branches are dropped, or reported once, by this one.
        explained = isMet ? before : before + 1;
        if (isMet) return true;
        const place = { data, instancePath: context?.instancePath ?? "" };
        (judge as unknown as { errors: ErrorObject[] }).errors = [wrap(explainAlternatives(judged, place))];
        return false;
      };
    },
  });
}

// ajv overwrites schema and data in the errors of a keyword that is not its own; inside params they are safe.
function wrap(errors: readonly ErrorObject[]): ErrorObject {
  return { keyword: "explained", params: { errors }, instancePath: "", schemaPath: "" };
}

function unwrap(errors: readonly ErrorObject[]): ErrorObject[] {
  return errors.flatMap((error) =>
    error.keyword === "explained" ? (error.params.errors as ErrorObject[]) : [error],
  );
}

function branchValidator(ajv: Ajv2020, place: string): ValidateFunction {
  const validate = ajv.getSchema(place);
  if (validate === undefined) throw new Error(`there is no schema at ${place}`);
  return validate as ValidateFunction;
}

// A keyword learns its own schema but not where that stands; `$ref` within a branch needs the whole around it.
function notePlaces(schema: object, root: string): void {
  const noted = new Set<object>();
  const open: [object, string][] = [[schema, `${root}#`]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, place] = next;
    if (noted.has(part)) continue;
    noted.add(part);
    places.set(part, place);
    for (const [key, value] of Object.entries(part)) {
      if (typeof value !== "object" || value === null) continue;
      const step = encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
      open.push([value, `${place}/${step}`]);
    }
  }
}
