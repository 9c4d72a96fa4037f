import Type from "typebox";
import { parseDuration } from "../engine/contract/duration.ts";
import { Settings } from "../engine/contract/settings.ts";
import { checkInput } from "./check-input.ts";
import { unprocessable } from "./problem.ts";

export const SomeSettings = Type.Partial(Settings, { additionalProperties: false });

/** Settings that are on or off; they also take booleans (G22). */
const SWITCHES: ReadonlySet<string> = new Set(
  Object.entries(Settings.properties)
    .filter(([, schema]) => "enum" in schema && String(schema.enum) === "on,off")
    .map(([name]) => name),
);

/** Settings as a caller writes them. */
export const SettingsInput = Type.Unsafe<Partial<Settings>>({
  ...SomeSettings,
  properties: Object.fromEntries(
    Object.entries(SomeSettings.properties).map(([name, schema]) => [
      name,
      SWITCHES.has(name)
        ? { ...schema, type: ["string", "boolean"], enum: ["on", "off", true, false] }
        : schema,
    ]),
  ),
  $id: "SettingsInput",
  description: "Settings that are left out stay as they are",
  examples: [{ preview: "on", processing_seconds: 5 }],
});

/**
 * Validates settings of the control API, the command line or the configuration file, and converts booleans to words.
 * @throws Problem 422 naming the setting, with the nearest known one
 */
export function checkSettings(given: unknown, prefix = "settings"): Partial<Settings> {
  const settings =
    typeof given === "object" && given !== null && !Array.isArray(given)
      ? Object.fromEntries(Object.entries(given).map(([name, value]) => [name, inWords(name, value)]))
      : given;
  checkInput(SomeSettings, settings, prefix);
  const { retry_schedule, cors_origins } = settings as Partial<Settings>;
  for (const [position, delay] of (retry_schedule ?? []).entries()) {
    if (parseDuration(delay) === undefined) {
      const field = `${prefix}.retry_schedule[${position}]`;
      throw unprocessable(field, delay, "must be a duration such as 90s, 5m, 6h, PT5M or milliseconds");
    }
  }
  for (const [position, origin] of (cors_origins ?? []).entries()) {
    if (!isOrigin(origin)) {
      const field = `${prefix}.cors_origins[${position}]`;
      throw unprocessable(field, origin, "must be an origin such as https://app.example.test, or *");
    }
  }
  return settings as Partial<Settings>;
}

function inWords(name: string, value: unknown): unknown {
  return SWITCHES.has(name) && typeof value === "boolean" ? (value ? "on" : "off") : value;
}

function isOrigin(text: string): boolean {
  return text === "*" || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/i.test(text);
}
