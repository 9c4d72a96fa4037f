import { type Static, type TSchema, Type } from "typebox";
import { Duration, StringEnum } from "./schema.ts";

/** The locales of faker, by the names of its modules. */
export const LOCALES: readonly string[] = `
  af_ZA ar az bn_BD cs_CZ cy da de de_AT de_CH dv el en en_AU en_AU_ocker en_BORK en_CA en_GB en_GH en_HK
  en_IE en_IN en_NG en_NP en_US en_ZA eo es es_MX fa fi fr fr_BE fr_CA fr_CH fr_LU fr_SN he hr hu hy id_ID
  it ja ka_GE ko ku_ckb ku_kmr_latin lv mk mn_MN_cyrl nb_NO ne nl nl_BE pl pt_BR pt_PT ro ro_MD ru sk sl_SI
  sr_RS_latin sv ta_IN th tr uk ur uz_UZ_latin vi yo_NG zh_CN zh_TW zu_ZA
`
  .trim()
  .split(/\s+/);

/** @param assumption the id of the assumption that the setting changes, such as G06, if any */
const defineSetting = <S extends TSchema>(
  assumption: string | undefined,
  schema: S,
  description: string,
): S => Object.assign(schema, { ...(assumption && { "x-assumption": assumption }), description });

const YEAR_SECONDS = 31_536_000;
const OnOff = (initial: "on" | "off") => StringEnum(["on", "off"], { default: initial });
const WholeSeconds = (initial: number) =>
  Type.Integer({ minimum: 1, maximum: YEAR_SECONDS, default: initial });
const Seconds = (initial: number) => Type.Number({ minimum: 0, maximum: YEAR_SECONDS, default: initial });
const Mebibytes = (initial: number, maximum: number) =>
  Type.Number({ exclusiveMinimum: 0, maximum, default: initial });

/**
 * The settings of a sandbox, for teams that know how the real service differs from our assumptions. The control API, the CLI
 * and the configuration file check values in the same way.
 */
export const Settings = Type.Object(
  {
    token_lifetime_seconds: defineSetting("G01", WholeSeconds(3600), "lifetime of an access token"),
    auth_errors: defineSetting(
      "G06",
      StringEnum(["operation", "guide"], { default: "operation" }),
      "form of every 401 and 403. `operation`: that of the operation's other errors. `guide`: `{detail, status_code, error_type}`",
    ),
    auth_challenge: defineSetting("G41", OnOff("on"), "whether a 401 has the header `WWW-Authenticate`"),
    rate_headers: defineSetting(
      "G07",
      StringEnum(["both", "plain", "alternative"], { default: "both" }),
      "rate-limit headers of answers. `plain`: `X-RateLimit-Limit` and the like. `alternative`: `x-ratelimit-limit-requests` and the like",
    ),
    out_of_range_limits: defineSetting(
      "G08",
      StringEnum(["reject", "clamp"], { default: "reject" }),
      "what happens to page sizes and offsets out of bounds. `reject`: a 422. `clamp`: the nearest bound is used",
    ),
    unknown_fields: defineSetting(
      "G09",
      StringEnum(["warn", "reject"], { default: "warn" }),
      "what happens to unknown body fields and query parameters. `warn`: a warning in the journal. `reject`: a 422",
    ),
    json_limit_mb: defineSetting("G09", Mebibytes(10, 512), "largest JSON body, in MiB"),
    cors_origins: defineSetting(
      "G30",
      Type.Array(Type.String({ minLength: 1 }), { default: [] }),
      "origins whose pages may call the API, in addition to loopback. `*` is any origin",
    ),
    cors_headers: defineSetting(
      "G30",
      Type.Array(
        Type.String({
          pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
          title: "a header's name of at most 100 characters, or *",
        }),
        { default: [], maxItems: 100 },
      ),
      "request headers that pages may send, in addition to the API's. `*` is any header",
    ),
    cors_credentials: defineSetting(
      "G30",
      OnOff("off"),
      'whether pages may send cookies (`credentials: "include"`)',
    ),
    processing_seconds: defineSetting("G11", Seconds(60), "how long a store processes a file"),
    upload_url_lifetime_seconds: defineSetting("G13", WholeSeconds(604_800), "lifetime of an upload URL"),
    connector_job_seconds: defineSetting("G14", Seconds(30), "how long a connector job takes"),
    connector_failure_rate: defineSetting(
      "G34",
      Type.Number({ minimum: 0, maximum: 1, default: 0.05 }),
      "share of connector jobs that fail, for connections that have no rate of their own",
    ),
    live_meetings: defineSetting(
      "G34",
      OnOff("off"),
      "whether running meetings get new lines as the clock advances",
    ),
    transcription_seconds: defineSetting("G17", Seconds(3600), "how long a transcription takes"),
    v2_models: defineSetting("G21", OnOff("on"), "whether `/v2/models` exists"),
    preview: defineSetting(
      "G22",
      OnOff("off"),
      "whether `GET /v1/organizations/{organization_id}/models` exists, which the service has only announced",
    ),
    upload_digests: defineSetting(
      "G43",
      StringEnum(["check", "ignore"], { default: "check" }),
      "whether `X-Goog-Hash` and `Content-MD5` of uploads are checked",
    ),
    upload_limit_mb: defineSetting("G26", Mebibytes(25, 1024), "largest image in a request, in MiB"),
    csv_formulas: defineSetting(
      "G28",
      StringEnum(["keep", "escape"], { default: "keep" }),
      "form of exported cells that a spreadsheet would run as formulas. `keep`: unchanged. `escape`: with a `'` in front",
    ),
    context_window: defineSetting(
      "G35",
      StringEnum(["enforce", "ignore"], { default: "enforce" }),
      "whether more input tokens than the model's `max_tokens` are a 422",
    ),
    invoicing: defineSetting("G36", OnOff("off"), "whether each month's spending is invoiced"),
    service_name: defineSetting(
      "G23",
      Type.String({
        pattern: "^[A-Za-z0-9._-]{1,64}$",
        title: "a name of at most 64 letters, digits, dots, hyphens and underscores",
        default: "Service",
      }),
      "name in the deliveries' `User-Agent`: `Service-Webhook/1.0`",
    ),
    webhook_timeout_seconds: defineSetting(
      "G24",
      Type.Number({ exclusiveMinimum: 0, maximum: 3600, default: 30 }),
      "how long a receiver may take, on the wall clock",
    ),
    retry_schedule: defineSetting(
      "G24",
      Type.Array(Duration(), { maxItems: 20, default: ["1m", "5m", "15m", "1h", "6h"] }),
      "the wait before each of the five retries, from the end of the attempt before. Fewer entries mean fewer retries; a sixth has no effect",
    ),
    locale: defineSetting(
      "G44",
      StringEnum(LOCALES, { default: "en" }),
      "language and country of generated data. The data of a fixture changes at the next reset",
    ),
    check_answers: defineSetting(
      undefined,
      OnOff("off"),
      "whether each answer is checked against its schema; one that does not fit becomes a 500",
    ),
    journal_limit: defineSetting(
      undefined,
      Type.Integer({ minimum: 1, maximum: 100_000, default: 1000 }),
      "how many requests the journal keeps, which are those that the console shows",
    ),
    history_limit: defineSetting(
      undefined,
      Type.Integer({ minimum: 0, maximum: 100_000, default: 1000 }),
      "how many changes the history keeps, which are those that the console shows. 0 means none",
    ),
  },
  { additionalProperties: false, $id: "Settings", description: "All settings with their current values" },
);
export type Settings = Static<typeof Settings>;

/** The default limit of uploads in a sandbox of a shared server; a local server has none (interfaces.md 7). */
export const SHARED_UPLOAD_LIMIT_BYTES = 1024 ** 3;

/** The largest JSON body in bytes (G09). */
export function getJsonLimit({ json_limit_mb }: Settings): number {
  return Math.floor(json_limit_mb * 1024 * 1024);
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
