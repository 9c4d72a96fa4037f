import Type, { type Static, type TSchema } from "typebox";
import { CATALOGUE } from "../contract/errors.ts";
import type { DeclaredApi } from "../contract/event.ts";
import { typed } from "../contract/schema.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { EFFECT_KEYS, type WireName } from "./effects/index.ts";

const Text = (options: object = {}) => Type.String({ minLength: 1, maxLength: 4096, ...options });
const TextOrNumber = Type.Unsafe<string | number | boolean | null>({
  type: ["string", "number", "boolean", "null"],
});

const Match = Type.Object(
  {
    operation: Type.Optional(
      typed("OperationPattern", Text({ description: "An operation id or a glob of them, such as files.*" })),
    ),
    method: Type.Optional(
      Type.Unsafe<string>({ type: "string", enum: ["GET", "POST", "PUT", "PATCH", "DELETE"] }),
    ),
    path: Type.Optional(Text({ description: "Without sandbox prefix and query; globs allowed" })),
    principal: Type.Optional(Text({ description: "A user id" })),
    api_key: Type.Optional(Text({ description: "The id of an API key, not the key itself" })),
    organization: Type.Optional(
      Text({ description: "The organization of the path, else the key's current one" }),
    ),
    header: Type.Optional(
      Type.Record(Type.String(), TextOrNumber, { description: "Exact values; null: the header is absent" }),
    ),
    query: Type.Optional(
      Type.Record(Type.String(), TextOrNumber, {
        description: "Exact values; null: the parameter is absent",
      }),
    ),
    body: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: "object",
        description: "What a JSON body must at least hold",
      }),
    ),
    event: Type.Optional(
      typed(
        "EventPattern",
        Text({ description: "An event name or a glob of them: hits deliveries, not requests" }),
      ),
    ),
    webhook: Type.Optional(Text({ description: "A webhook id: hits deliveries, not requests" })),
  },
  { additionalProperties: false },
);
export type MatchDocument = Static<typeof Match>;

const EffectSchema = Type.Unsafe<EffectDocument<WireName>>({
  type: "object",
  properties: EFFECT_KEYS,
  additionalProperties: false,
});

/** One rule as a scenario or a call writes it (interfaces 6). */
export const RuleDocument = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$",
        title: "a short name such as lost-answer",
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: 2000 })),
    match: Type.Optional(Match),
    sequence: Type.Optional(
      Type.Array(
        typed(
          'number | "pass" | AnyCode',
          Type.Unsafe<string | number>({
            type: ["string", "integer"],
            minimum: 200,
            maximum: 599,
            title: "a status, a code, or pass",
          }),
        ),
        { minItems: 1, maxItems: 1000 },
      ),
    ),
    times: Type.Optional(Type.Integer({ minimum: 1 })),
    every: Type.Optional(Type.Integer({ minimum: 1 })),
    probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    phase: Type.Optional(Type.Unsafe<"before" | "after">({ type: "string", enum: ["before", "after"] })),
    effect: Type.Optional(EffectSchema),
    lease: Type.Optional(
      Type.Object(
        {
          ttl: Type.Optional(
            typed(
              "Duration",
              Type.Unsafe<string | number>({
                type: ["string", "number"],
                title: "a duration such as 10m, on the sandbox's clock",
              }),
            ),
          ),
          hits: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        { additionalProperties: false, minProperties: 1 },
      ),
    ),
  },
  { additionalProperties: false },
);
export type RuleDocument = Static<typeof RuleDocument>;

const Count = Type.Unsafe<number | { min?: number; max?: number }>({
  anyOf: [
    { type: "integer", minimum: 0 },
    {
      type: "object",
      properties: { min: { type: "integer", minimum: 0 }, max: { type: "integer", minimum: 0 } },
      additionalProperties: false,
      minProperties: 1,
    },
  ],
});

/** Requests that the application must have sent, or must not, by the end of a suite's run; judged against the journal. */
export const ExpectDocument = Type.Object(
  {
    description: Type.Optional(Type.String({ maxLength: 2000 })),
    match: Type.Object(
      {
        operation: Type.Optional(typed("OperationPattern", Text())),
        method: Type.Optional(
          Type.Unsafe<string>({
            type: "string",
            enum: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"],
          }),
        ),
        path: Type.Optional(Text()),
        status: Type.Optional(
          Type.Unsafe<string | number>({
            type: ["string", "integer"],
            pattern: "^[1-5](\\d\\d|xx|XX)$",
            minimum: 100,
            maximum: 599,
            title: "a status such as 404, or a class such as 4xx",
          }),
        ),
        code: Type.Optional(typed("ErrorCode", Text())),
        body: Type.Optional(Type.Unsafe<unknown>({})),
      },
      { additionalProperties: false, minProperties: 1 },
    ),
    count: Type.Optional(Count),
  },
  { additionalProperties: false },
);
export type ExpectDocument = Static<typeof ExpectDocument>;

export const SCENARIO_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;

/** A scenario file (interfaces 6). */
export const ScenarioDocument = Type.Object(
  {
    name: Type.Optional(
      Type.String({ pattern: SCENARIO_NAME.source, title: "a name of letters, digits, dots and hyphens" }),
    ),
    description: Type.Optional(Type.String({ maxLength: 4000 })),
    rules: Type.Array(RuleDocument, { maxItems: 10_000 }),
    expect: Type.Optional(Type.Array(ExpectDocument, { maxItems: 1000 })),
  },
  { additionalProperties: false, title: "Understudy scenario" },
);
export type ScenarioDocument = Static<typeof ScenarioDocument>;

type Json = Record<string, unknown>;

/**
 * The JSON Schema of scenario files for editors. It accepts more than `scenario check`, since no schema can say which
 * codes an operation answers. Known words are offered as examples.
 */
export function scenarioSchemaText({ operations, events }: DeclaredApi): string {
  const words: Readonly<Record<string, readonly string[]>> = {
    operation: operations.map(({ id }) => id),
    event: events.map(({ name }) => name),
    error: Object.keys(CATALOGUE),
  };
  const schema = withExamples(
    JSON.parse(JSON.stringify(ScenarioDocument as TSchema, withoutOwnNotes)) as Json,
    words,
  );
  return `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema }, null, 2)}\n`;
}

/** `x-type` is for the library's types alone. */
function withoutOwnNotes(key: string, value: unknown): unknown {
  return key === "x-type" ? undefined : value;
}

function withExamples(schema: Json, words: Readonly<Record<string, readonly string[]>>): Json {
  const properties = schema["properties"] as Record<string, Json> | undefined;
  for (const [name, property] of Object.entries(properties ?? {})) {
    if (property["type"] === "string" && Object.hasOwn(words, name)) property["examples"] = words[name];
    withExamples(property, words);
    if (typeof property["items"] === "object") withExamples(property["items"] as Json, words);
  }
  return schema;
}
