import { type TObject, type TSchema, Type } from "typebox";
import { parseDuration } from "../engine/contract/duration.ts";
import { appendStep, getValue, toFieldName } from "../engine/contract/invalid-field.ts";
import { ClosedObject, isJsonObject } from "../engine/contract/schema.ts";
import { Settings } from "../engine/contract/settings.ts";
import { toValidator } from "../engine/contract/validator.ts";
import { diagnose } from "../engine/documents/check-document.ts";
import { explain } from "../engine/documents/schema-message.ts";
import { mapValues } from "../engine/maps.ts";
import { addDefaults, findRepeatedName, readQuery } from "../engine/pipeline/read-query.ts";
import { type Problem, unprocessable } from "./problem.ts";

/**
 * Checks a value of a control call against its schema.
 * @throws Problem 422 that names the first field at fault and the nearest right word
 */
export function checkInput(schema: TSchema, value: unknown, prefix = ""): void {
  const validate = toValidator(schema);
  if (!validate(value)) throw toInputProblem(value, diagnose(value, validate)[0]!, prefix);
}

const NO_QUERY = ClosedObject({});

/**
 * Validates a query, and returns its typed values, with the defaults of absent parameters.
 * @throws Problem 422 for a key that is not known, sent twice, or of the wrong kind
 */
export function parseQuery(search: string, schema: TObject = NO_QUERY): Record<string, unknown> {
  const sent = readQuery(schema, search, { unknown: "keep", outOfRange: "reject" });
  const repeated = findRepeatedName(schema, sent);
  if (repeated !== undefined)
    throw unprocessable(repeated, (sent[repeated] as unknown[])[1], "was sent twice");
  const values = addDefaults(schema, sent, "reject");
  checkInput(schema, values);
  return values;
}

function toInputProblem(value: unknown, error: Parameters<typeof explain>[0], prefix: string): Problem {
  const { message, hint, key: unknownKey } = explain(error);
  const missing = error.keyword === "required" ? String(error.params["missingProperty"]) : undefined;
  const step = unknownKey ?? missing;
  const pointer = step === undefined ? error.instancePath : appendStep(error.instancePath, step);
  const name = pointer === "" ? "" : toFieldName(pointer);
  const field = [prefix, name].filter((part) => part !== "").join(".") || "body";
  if (missing !== undefined) return unprocessable(field, null, "is required");
  const valueAtFault = getValue(value, pointer);
  return unprocessable(field, valueAtFault, unknownKey === undefined ? message : "is not known here", hint);
}

export const PartialSettings = ClosedObject(
  Object.fromEntries(Object.entries(Settings.properties).map(([name, one]) => [name, Type.Optional(one)])),
);

/** Settings that are on or off; they also take booleans (G22). */
const SWITCHES: ReadonlySet<string> = new Set(
  Object.entries(Settings.properties)
    .filter(([, schema]) => "enum" in schema && String(schema.enum) === "on,off")
    .map(([name]) => name),
);

/** Settings as a caller writes them. */
export const SettingsInput = Type.Unsafe<Partial<Settings>>({
  ...PartialSettings,
  properties: mapValues(PartialSettings.properties, (schema, name) =>
    SWITCHES.has(name)
      ? { ...schema, type: ["string", "boolean"], enum: ["on", "off", true, false] }
      : schema,
  ),
  $id: "SettingsInput",
  description: "Omitted settings are unchanged",
  examples: [{ preview: "on", processing_seconds: 5 }],
});

/**
 * Validates settings of the control API, the command line or the configuration file, and converts booleans to `on` and `off`.
 * @throws Problem 422 naming the setting, with the nearest known one
 */
export function parseSettings(input: unknown): Partial<Settings> {
  const settings = isJsonObject(input) ? mapValues(input, (value, name) => toSwitch(name, value)) : input;
  checkInput(PartialSettings, settings, "settings");
  const { retry_schedule = [], cors_origins = [] } = settings as Partial<Settings>;
  const delayAt = retry_schedule.findIndex((delay) => parseDuration(delay) === undefined);
  if (delayAt >= 0)
    throw unprocessable(
      `settings.retry_schedule[${delayAt}]`,
      retry_schedule[delayAt],
      "must be a duration such as 90s, 5m, 6h, PT5M or milliseconds",
    );
  const originAt = cors_origins.findIndex((origin) => !ORIGIN.test(origin) || USUAL_PORT.test(origin));
  if (originAt >= 0)
    throw unprocessable(
      `settings.cors_origins[${originAt}]`,
      cors_origins[originAt],
      "must be an origin such as https://app.example.test, or *",
    );
  return settings as Partial<Settings>;
}

function toSwitch(name: string, value: unknown): unknown {
  return SWITCHES.has(name) && typeof value === "boolean" ? (value ? "on" : "off") : value;
}

/** As browsers send it: in lower case, without the scheme's usual port. */
const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/[^/?#*A-Z\s]+)$/;
const USUAL_PORT = /^http:.*:80$|^https:.*:443$/;
