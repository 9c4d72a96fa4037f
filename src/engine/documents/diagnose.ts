import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { makeAjv } from "../contract/validator.ts";
import { type Branch, explainAlternatives } from "./explain-alternatives.ts";

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
 * are not met, only the first MAX_EXPLAINED are told.
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

// ajv reports the errors of all branches in one flat list from which they cannot be told apart again once a branch
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
        // What was told of the branches within is told no more, or once, by this one.
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
