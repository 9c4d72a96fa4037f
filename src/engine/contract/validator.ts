import { Ajv2020, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { getOrAdd } from "../maps.ts";
import { parseDateOrInstant } from "./instant.ts";
import { toPlainSchema } from "./schema.ts";

/** An ajv that knows the formats of our schemas. */
export function makeAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    // validator.test.ts checks our own schemas; compiling the meta-schema would double the cold start.
    validateSchema: false,
    // Compiling takes a third of the time that optimizing would take, and the validators are as fast.
    code: { optimize: false },
    // In binary, 19.99 / 0.01 is not an integer; the quotient may differ from an integer by up to 0.000001.
    multipleOfPrecision: 6,
    // Every object inherits a function `constructor`; it does not count as the value of a field of that name.
    ownProperties: true,
    ...options,
  });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addFormat("date-or-instant", (text) => parseDateOrInstant(text) !== undefined);
  return ajv;
}

let ajv: Ajv2020 | undefined;
const validators = new WeakMap<object, ValidateFunction>();
const factories = new WeakMap<object, () => ValidateFunction>();

/** Sets the function that creates a schema's validator on first use, in place of compiling the schema alone. */
export function provideValidator(schema: object, create: () => ValidateFunction): void {
  factories.set(schema, create);
}

/**
 * The validator of a schema, which stops at the first error. It is made once, on first use, so that the start of the
 * server does not pay for schemas that are never used.
 */
export function toValidator(schema: object): ValidateFunction {
  return getOrAdd(validators, schema, () => {
    ajv ??= makeAjv();
    return factories.get(schema)?.() ?? ajv.compile(toPlainSchema(schema));
  });
}
