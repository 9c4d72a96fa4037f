import type { ErrorObject } from "ajv";
import type { InvalidField } from "../../engine/contract/invalid-field.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import type { Random } from "../../engine/state/random.ts";
import { completeObject, generateValue, inventField } from "./generate-value.ts";
import type { Schemas } from "./schemas.ts";

/** The keywords about a record as a whole. */
const RECORD_KEYWORD = /^(oneOf|anyOf|not|if|minProperties|maxProperties|dependentRequired)$/;
/** For invented values that are only compared with a schema, and never stored. */
const FIXED_CONTEXT = { now: "2026-01-01T00:00:00.000Z", seed: 1 };

/** The rules of a document about whole records, such as `minProperties`. */
export class RecordRules {
  private readonly schema: unknown;
  private readonly schemas: Schemas;
  /** The id and the instants, whose stored forms differ from the described ones. */
  private readonly storedOtherwise: ReadonlySet<string>;
  private readonly hasRules: boolean;

  constructor(
    schema: unknown,
    { schemas, storedOtherwise }: { schemas: Schemas; storedOtherwise: ReadonlySet<string> },
  ) {
    this.schema = schema;
    this.schemas = schemas;
    this.storedOtherwise = storedOtherwise;
    this.hasRules = Object.keys(schemas.mergeKeywords(schema)).some((key) => RECORD_KEYWORD.test(key));
  }

  /** Adds generated fields to a new record that breaks a rule; returns it unchanged if they do not help. */
  complete(record: JsonObject, random: Random): object {
    if (this.findBroken(record) === undefined) return record;
    const generated = Object.entries(this.generate(record, random.uint32()));
    const added = Object.fromEntries(generated.filter(([name]) => !this.storedOtherwise.has(name)));
    // The given fields come first, and keep their values in spite of generated ones.
    const whole = { ...record, ...added, ...record };
    return this.findBroken(whole) === undefined ? whole : record;
  }

  /** The rule that the given fields break. If they are not the whole record, only a rule that no further fields can satisfy. */
  findInvalid(fields: JsonObject, isWhole: boolean): InvalidField | undefined {
    const broken = this.findBroken(fields);
    const canFit = (given: JsonObject) =>
      this.findBroken(this.generate(given, FIXED_CONTEXT.seed)) === undefined;
    // A schema that not even a generated record fits refuses nothing.
    if (broken === undefined || (!isWhole && canFit(fields)) || !canFit({})) return undefined;
    return { field: "body", pointer: "", value: fields, message: broken.message ?? "is invalid" };
  }

  private generate(given: JsonObject, seed: number): JsonObject {
    return generateValue(this.schemas, this.schema, seed, this.toComparable(given)) as JsonObject;
  }

  /** The rule that a record breaks; its form may be the stored or the public one. */
  private findBroken(record: JsonObject): ErrorObject | undefined {
    if (!this.hasRules) return undefined;
    const { schema, schemas } = this;
    const validate = schemas.compileValidator(schema, "answer");
    if (validate(completeObject(this.toComparable(record), schema, { schemas, ...FIXED_CONTEXT })))
      return undefined;
    return validate.errors!.find((one) => one.instancePath === "" && RECORD_KEYWORD.test(one.keyword));
  }

  /** The described fields; the id and the instants, which may have their stored forms, are replaced by invented ones. */
  private toComparable(fields: JsonObject): JsonObject {
    const { schemas } = this;
    const described = schemas.listPossibleFields(this.schema);
    const entries = Object.entries(fields).filter(([name]) => described.has(name));
    return Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        this.storedOtherwise.has(name)
          ? inventField(described.get(name), { schemas, ...FIXED_CONTEXT })
          : value,
      ]),
    );
  }
}
