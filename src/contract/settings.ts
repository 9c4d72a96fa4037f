import Type, { type Static } from "typebox";
import { Words } from "./schema.ts";

const OnOff = (initial: "on" | "off", description: string) =>
  Type.Unsafe<"on" | "off">({ type: "string", enum: ["on", "off"], default: initial, description });

/**
 * What a team that knows the real service better may change per sandbox; each belongs to a documented
 * assumption. Values are checked by the control API, the CLI and the configuration file alike.
 */
export const Settings = Type.Object(
  {
    token_lifetime_seconds: Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      default: 3600,
      description: "G01: how long an access token lives",
    }),
    auth_errors: Words(["operation", "guide"], {
      default: "operation",
      description: "G06: which envelope 401 and 403 use",
    }),
    rate_headers: Words(["both", "plain", "alternative"], {
      default: "both",
      description: "G07: which rate header family is sent",
    }),
    out_of_range_limits: Words(["reject", "clamp"], {
      default: "reject",
      description: "G08: page sizes and offsets outside their bounds",
    }),
    unknown_fields: Words(["warn", "reject"], {
      default: "warn",
      description: "G09: body fields that the contract does not know",
    }),
    json_limit_mb: Type.Number({
      exclusiveMinimum: 0,
      maximum: 512,
      default: 10,
      description: "G09: largest JSON body, in MiB",
    }),
    cors_origins: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: "G30: browser origins allowed besides loopback",
    }),
    processing_seconds: Type.Number({
      minimum: 0,
      maximum: 31_536_000,
      default: 60,
      description: "G11: how long a store takes to process a file",
    }),
    upload_url_lifetime_seconds: Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      default: 604_800,
      description: "G13: how long an upload URL lives",
    }),
    connector_job_seconds: Type.Number({
      minimum: 0,
      maximum: 31_536_000,
      default: 30,
      description: "G14: how long a connector job runs",
    }),
    v2_models: OnOff("on", "G21: whether /v2/models answers"),
    preview: OnOff("off", "G22: whether the announced endpoint 4.18 answers"),
    upload_limit_mb: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1024,
      default: 25,
      description: "G26: largest image file, in MiB",
    }),
    csv_formulas: Words(["keep", "escape"], {
      default: "keep",
      description: "G28: cells that a spreadsheet would run",
    }),
    context_window: Words(["enforce", "ignore"], {
      default: "enforce",
      description: "G35: whether more input tokens than the model's max_tokens are refused",
    }),
    service_name: Type.String({
      pattern: "^[A-Za-z0-9._-]{1,64}$",
      default: "Service",
      description: "G23: the name in the User-Agent of deliveries",
    }),
    webhook_timeout_seconds: Type.Number({
      exclusiveMinimum: 0,
      maximum: 3600,
      default: 30,
      description: "G24: how long a receiver may take",
    }),
    retry_schedule: Type.Array(Type.Union([Type.String(), Type.Number({ minimum: 0 })]), {
      maxItems: 20,
      default: ["1m", "5m", "15m", "1h", "6h"],
      description: "G24: the delay before each retry, counted from the end of the attempt before",
    }),
    check_answers: OnOff(
      "off",
      "whether each answer is checked against its schema before it is sent; one that does not fit is a 500",
    ),
    journal_limit: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 1000,
      description: "how many requests the journal keeps",
    }),
  },
  {
    additionalProperties: false,
    $id: "Settings",
    description: "Everything that may be set, as it is in force",
  },
);
export type Settings = Static<typeof Settings>;

export const DEFAULT_SETTINGS: Settings = Object.fromEntries(
  Object.entries(Settings.properties).map(([name, schema]) => [
    name,
    (schema as { default?: unknown }).default,
  ]),
) as Settings;
