import { type Static, Type } from "typebox";
import { StringEnum } from "./schema.ts";

/** The locales of faker, by the names of its modules. */
export const LOCALES: readonly string[] = `
  af_ZA ar az bn_BD cs_CZ cy da de de_AT de_CH dv el en en_AU en_AU_ocker en_BORK en_CA en_GB en_GH en_HK
  en_IE en_IN en_NG en_NP en_US en_ZA eo es es_MX fa fi fr fr_BE fr_CA fr_CH fr_LU fr_SN he hr hu hy id_ID
  it ja ka_GE ko ku_ckb ku_kmr_latin lv mk mn_MN_cyrl nb_NO ne nl nl_BE pl pt_BR pt_PT ro ro_MD ru sk sl_SI
  sr_RS_latin sv ta_IN th tr uk ur uz_UZ_latin vi yo_NG zh_CN zh_TW zu_ZA
`
  .trim()
  .split(/\s+/);

/**
 * The settings of a sandbox, for teams that know the real service better than the assumptions; `x-assumption` is the
 * row of the ledger that a setting changes. Values are checked by the control API, the CLI and the configuration file
 * alike.
 */
export const Settings = Type.Object(
  {
    token_lifetime_seconds: Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      default: 3600,
      "x-assumption": "G01",
      description: "lifetime of an access token",
    }),
    auth_errors: StringEnum(["operation", "guide"], {
      default: "operation",
      "x-assumption": "G06",
      description: "`guide`: every 401 and 403 in envelope C",
    }),
    auth_challenge: StringEnum(["on", "off"], {
      default: "on",
      "x-assumption": "G41",
      description: "`WWW-Authenticate` of a 401",
    }),
    rate_headers: StringEnum(["both", "plain", "alternative"], {
      default: "both",
      "x-assumption": "G07",
      description: "families of rate headers",
    }),
    out_of_range_limits: StringEnum(["reject", "clamp"], {
      default: "reject",
      "x-assumption": "G08",
      description: "page sizes and offsets out of bounds: 422, or the nearest bound",
    }),
    unknown_fields: StringEnum(["warn", "reject"], {
      default: "warn",
      "x-assumption": "G09",
      description: "unknown body fields and query parameters: a warning in the journal, or 422",
    }),
    json_limit_mb: Type.Number({
      exclusiveMinimum: 0,
      maximum: 512,
      default: 10,
      "x-assumption": "G09",
      description: "largest JSON body, in MiB",
    }),
    cors_origins: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      "x-assumption": "G30",
      description: "allowed browser origins, in addition to loopback; `*`: any",
    }),
    cors_headers: Type.Array(
      Type.String({
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
        title: "a header's name of at most 100 characters, or *",
      }),
      {
        default: [],
        maxItems: 100,
        "x-assumption": "G30",
        description: "request headers of pages, in addition to the API's; `*`: any",
      },
    ),
    cors_credentials: StringEnum(["on", "off"], {
      default: "off",
      "x-assumption": "G30",
      description: 'cookies of pages (`credentials: "include"`)',
    }),
    processing_seconds: Type.Number({
      minimum: 0,
      maximum: 31_536_000,
      default: 60,
      "x-assumption": "G11",
      description: "how long a store processes a file",
    }),
    upload_url_lifetime_seconds: Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      default: 604_800,
      "x-assumption": "G13",
      description: "lifetime of an upload URL",
    }),
    connector_job_seconds: Type.Number({
      minimum: 0,
      maximum: 31_536_000,
      default: 30,
      "x-assumption": "G14",
      description: "how long a connector job takes",
    }),
    connector_failure_rate: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.05,
      "x-assumption": "G34",
      description: "share of connector jobs that fail, unless the connection has its own",
    }),
    live_meetings: StringEnum(["on", "off"], {
      default: "off",
      "x-assumption": "G34",
      description: "new lines in running meetings as the clock advances",
    }),
    transcription_seconds: Type.Number({
      minimum: 0,
      maximum: 31_536_000,
      default: 3600,
      "x-assumption": "G17",
      description: "how long a transcription takes",
    }),
    v2_models: StringEnum(["on", "off"], {
      default: "on",
      "x-assumption": "G21",
      description: "`/v2/models`",
    }),
    preview: StringEnum(["on", "off"], {
      default: "off",
      "x-assumption": "G22",
      description:
        "whether `GET /v1/organizations/{organization_id}/models` answers, which is announced only (4.18)",
    }),
    upload_digests: StringEnum(["check", "ignore"], {
      default: "check",
      "x-assumption": "G43",
      description: "`X-Goog-Hash` and `Content-MD5` of uploads",
    }),
    upload_limit_mb: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1024,
      default: 25,
      "x-assumption": "G26",
      description: "largest image file, in MiB",
    }),
    csv_formulas: StringEnum(["keep", "escape"], {
      default: "keep",
      "x-assumption": "G28",
      description: "exported cells that a spreadsheet would run",
    }),
    context_window: StringEnum(["enforce", "ignore"], {
      default: "enforce",
      "x-assumption": "G35",
      description: "422 for more input tokens than the model's `max_tokens`",
    }),
    invoicing: StringEnum(["on", "off"], {
      default: "off",
      "x-assumption": "G36",
      description: "invoices for each month's spending",
    }),
    service_name: Type.String({
      pattern: "^[A-Za-z0-9._-]{1,64}$",
      title: "a name of at most 64 letters, digits, dots, hyphens and underscores",
      default: "Service",
      "x-assumption": "G23",
      description: "name in the deliveries' `User-Agent`: `Service-Webhook/1.0`",
    }),
    webhook_timeout_seconds: Type.Number({
      exclusiveMinimum: 0,
      maximum: 3600,
      default: 30,
      "x-assumption": "G24",
      description: "how long a receiver may take, on the wall clock",
    }),
    retry_schedule: Type.Array(Type.Union([Type.String(), Type.Number({ minimum: 0 })]), {
      maxItems: 20,
      default: ["1m", "5m", "15m", "1h", "6h"],
      "x-assumption": "G24",
      description:
        "the wait before each retry, from the end of the attempt before; waits after the fifth are ignored",
    }),
    locale: StringEnum(LOCALES, {
      default: "en",
      "x-assumption": "G44",
      description:
        "language and country of generated names, addresses, titles and file names; those of a fixture change at the next reset",
    }),
    check_answers: StringEnum(["on", "off"], {
      default: "off",
      description: "checks each answer against its schema before it is sent; one that does not fit is a 500",
    }),
    journal_limit: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 1000,
      description: "requests in the journal",
    }),
    history_limit: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 1000,
      description: "changes in the history; 0: none",
    }),
  },
  {
    additionalProperties: false,
    $id: "Settings",
    description: "All settings with their current values",
  },
);
export type Settings = Static<typeof Settings>;

/** The largest JSON body in bytes (G09). */
export function getJsonLimit({ json_limit_mb }: Settings): number {
  return json_limit_mb * 1024 * 1024;
}

export const DEFAULT_SETTINGS = Object.fromEntries(
  describeSettings().map((setting) => [setting.name, setting.default]),
) as Settings;

/** A row of the settings, as the ledger and the documentation read it. */
export interface DescribedSetting {
  name: string;
  default: unknown;
  description: string;
  /** The assumption that it changes, if any. */
  assumption: string | undefined;
  schema: Readonly<Record<string, unknown>>;
}

export function describeSettings(): DescribedSetting[] {
  return Object.entries(Settings.properties).map(([name, property]) => {
    const schema = property as unknown as Record<string, unknown>;
    return {
      name,
      default: schema.default,
      description: schema.description as string,
      assumption: schema["x-assumption"] as string | undefined,
      schema,
    };
  });
}

/** The settings that change an assumption, by name. */
export function listSettings(assumption: string): string[] {
  return describeSettings()
    .filter((setting) => setting.assumption === assumption)
    .map(({ name }) => name);
}
