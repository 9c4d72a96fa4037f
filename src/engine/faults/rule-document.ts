import { type Static, Type } from "typebox";
import { METHODS } from "../contract/operation.ts";
import { ClosedObject, Duration, MapOf, StringEnum, withLibraryType } from "../contract/schema.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { EFFECT_KEYS, type WireName } from "./effects/index.ts";

/* A `title` is what messages call a value that was expected. */

/** The pattern of a scenario's name and of a rule's id. */
export const SCENARIO_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

const Text = (options: object = {}) => Type.String({ minLength: 1, maxLength: 4096, ...options });
const OptionalText = (description: string) => Type.Optional(Text({ description }));
const Pattern = (type: "OperationPattern" | "EventPattern", options: object = {}) =>
  Type.Optional(withLibraryType(type, Text(options)));
const ExactValues = (part: string) => {
  const value = Type.Unsafe<string | number | boolean | null>({
    type: ["string", "number", "boolean", "null"],
  });
  const description = `Exact values; null: the ${part} is absent`;
  return Type.Optional(MapOf(value, { description }));
};
const TextOrInteger = (options: object) =>
  Type.Unsafe<string | number>({ type: ["string", "integer"], ...options });
const Count = (minimum: number) => Type.Optional(Type.Integer({ minimum }));

const Match = ClosedObject({
  operation: Pattern("OperationPattern", {
    description: "An operation id, or a glob of ids such as files.*",
  }),
  method: Type.Optional(StringEnum<readonly string[]>(METHODS)),
  path: OptionalText("Without sandbox prefix and query; globs allowed"),
  principal: OptionalText("A user id"),
  api_key: OptionalText("The id of an API key, not the key itself"),
  organization: OptionalText("The organization of the path, else the key's current one"),
  header: ExactValues("header"),
  query: ExactValues("parameter"),
  body: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "Fields that a JSON body must contain",
    }),
  ),
  event: Pattern("EventPattern", {
    description: "An event name, or a glob of names. The rule then matches deliveries, not requests",
  }),
  webhook: OptionalText("A webhook id: matches deliveries, not requests"),
});
export type MatchDocument = Static<typeof Match>;

const EffectSchema = Type.Unsafe<EffectDocument<WireName>>({
  type: "object",
  properties: EFFECT_KEYS,
  additionalProperties: false,
});

const { error, details, status, body, headers } = EFFECT_KEYS;
/** The answer of one entry of a sequence. */
const EntryEffect = Type.Unsafe<EffectDocument>({
  type: "object",
  properties: { error, details, status, body, headers },
  additionalProperties: false,
  minProperties: 1,
});

/** One rule as a scenario or a call writes it (interfaces.md 6). */
export const RuleDocument = ClosedObject({
  id: Type.Optional(
    Type.String({ pattern: SCENARIO_NAME.source, title: "a short name such as lost-answer" }),
  ),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  match: Type.Optional(Match),
  public: Type.Optional(
    Type.Boolean({
      description: "On a path that the API lacks: callers without credentials or membership are answered too",
    }),
  ),
  sequence: Type.Optional(
    Type.Array(
      Type.Union([
        withLibraryType(
          'number | "pass" | AnyCode',
          TextOrInteger({
            minimum: 200,
            maximum: 599,
            title: "a status from 200 to 599, a code, pass",
          }),
        ),
        EntryEffect,
      ]),
      { minItems: 1, maxItems: 1000 },
    ),
  ),
  times: Count(1),
  every: Count(1),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  phase: Type.Optional(StringEnum(["before", "after"])),
  effect: Type.Optional(EffectSchema),
  lease: Type.Optional(
    ClosedObject(
      {
        ttl: Type.Optional(Duration("a duration such as 10m, on the sandbox's clock")),
        hits: Count(1),
      },
      { minProperties: 1 },
    ),
  ),
});
export type RuleDocument = Static<typeof RuleDocument>;

/** The effect that an entry of a sequence abbreviates; undefined for `pass`. */
export function toEntryEffect(entry: string | number | EffectDocument): EffectDocument | undefined {
  if (entry === "pass") return undefined;
  if (typeof entry === "object") return entry;
  return typeof entry === "string" ? { error: entry } : { status: entry };
}

export const StatusPattern = TextOrInteger({
  pattern: "^[1-5](\\d\\d|xx|XX)$",
  minimum: 100,
  maximum: 599,
  title: "a status such as 404, or a class such as 4xx",
});

const ExpectedMatch = ClosedObject(
  {
    operation: Pattern("OperationPattern"),
    method: Type.Optional(StringEnum<readonly string[]>([...METHODS, "HEAD", "OPTIONS"])),
    path: Type.Optional(Text()),
    status: Type.Optional(StatusPattern),
    code: Type.Optional(withLibraryType("ErrorCode", Text())),
    principal: Type.Optional(Text()),
    body: Type.Optional(Type.Unsafe<unknown>({})),
    event: Pattern("EventPattern"),
    webhook: Type.Optional(Text()),
    attempt: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { minProperties: 1 },
);
export type ExpectedMatch = Static<typeof ExpectedMatch>;

/** The checks of the client test; a scenario can expect those that its requests show. */
export const CLIENT_CHECK_NAMES = [
  "honours-retry-after",
  "bounded-retries",
  "growing-pauses",
  "jittered-pauses",
  "no-retry-of-400",
  "no-retry-of-403",
  "no-retry-of-404",
  "no-retry-of-422",
  "no-retry-of-401",
  "no-blind-repeat",
  "resumes-uploads",
  "gives-up-on-silence",
  "survives-truncated",
  "survives-empty",
  "survives-wrong-type",
  "tolerates-additions",
  "tolerates-new-values",
  "one-refresh",
  "no-credentials-in-urls",
  "no-credentials-elsewhere",
  "reads-all-pages",
  "uses-etags",
] as const;

/** The checks that a scenario cannot expect, and why. */
export const NOT_IN_SCENARIOS: Partial<Record<(typeof CLIENT_CHECK_NAMES)[number], string>> = {
  "no-credentials-elsewhere":
    "it needs a second server to which the client is redirected, and a scenario has none",
};

/**
 * Requests that the application must have sent, or must not, by the end of a suite's run; checked against the journal.
 */
export const ExpectDocument = ClosedObject({
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  match: Type.Optional(ExpectedMatch),
  sequence: Type.Optional(Type.Array(ExpectedMatch, { minItems: 1, maxItems: 100 })),
  strict: Type.Optional(
    Type.Boolean({ description: "No other entry that one of the steps matches may be between them" }),
  ),
  client: Type.Optional(
    Type.Array(StringEnum(CLIENT_CHECK_NAMES), {
      minItems: 1,
      description: "Checks of `understudy client-test` that the requests must pass",
    }),
  ),
  count: Type.Optional(
    Type.Union([
      Type.Integer({ minimum: 0 }),
      ClosedObject({ min: Count(0), max: Count(0) }, { minProperties: 1 }),
    ]),
  ),
});
export type ExpectDocument = Static<typeof ExpectDocument>;

/** A part of a run, with rules of its own (interfaces.md 21). */
export const StageDocument = ClosedObject({
  name: Type.String({ pattern: SCENARIO_NAME.source, title: "a short name such as outage" }),
  description: Type.Optional(Type.String({ maxLength: 2000 })),
  rules: Type.Optional(Type.Array(RuleDocument, { maxItems: 1000 })),
  until: Type.Optional(
    ClosedObject(
      {
        requests: Type.Optional(
          Type.Integer({ minimum: 1, description: "The stage ends with its request of this number" }),
        ),
        time: Type.Optional(Duration("a duration such as 2m, on the sandbox's clock")),
        held: Type.Optional(
          Type.Literal(true, { description: "The stage ends when a request or delivery is held" }),
        ),
      },
      { minProperties: 1, maxProperties: 1, title: "when the stage ends: `requests`, `time` or `held`" },
    ),
  ),
  expect: Type.Optional(Type.Array(ExpectDocument, { maxItems: 1000 })),
});
export type StageDocument = Static<typeof StageDocument>;

/** A scenario file (interfaces.md 6). */
export const ScenarioDocument = ClosedObject(
  {
    name: Type.Optional(
      Type.String({
        pattern: SCENARIO_NAME.source,
        title:
          "a name of at most 80 letters, digits, dots, hyphens and underscores, with a letter or digit first",
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 4000 })),
    rules: Type.Optional(Type.Array(RuleDocument, { maxItems: 10_000 })),
    stages: Type.Optional(
      Type.Array(StageDocument, {
        minItems: 1,
        maxItems: 100,
        description: "Each begins when the one before ends, and has its own rules",
      }),
    ),
    expect: Type.Optional(Type.Array(ExpectDocument, { maxItems: 1000 })),
  },
  { title: "Understudy scenario" },
);
export type ScenarioDocument = Static<typeof ScenarioDocument>;
