import { type Static, Type } from "typebox";
import { StringEnum, Timestamp } from "../../engine/contract/schema.ts";
import { toValidator } from "../../engine/contract/validator.ts";
import { DocumentError } from "../../engine/documents/document-error.ts";
import { DelaySchema } from "../../engine/faults/effects/delay.ts";

export const BUNDLE_FORMAT = "understudy-bundle";
/** Increase it with a change that makes new bundles unreadable for earlier releases. */
export const BUNDLE_VERSION = 1;

const Headers = Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }));

/** `text` if the bytes are UTF-8, else `latin1` with one character per byte. Placeholders replace secrets. */
export const Body = Type.Union([
  Type.Object({ text: Type.String() }, { additionalProperties: false }),
  Type.Object({ latin1: Type.String() }, { additionalProperties: false }),
]);
export type BundleBody = Static<typeof Body>;

const Answer = Type.Object({
  /** 0 if the client received no answer. */
  status: Type.Integer({ minimum: 0, maximum: 999 }),
  headers: Headers,
  body: Type.Optional(Body),
  /** For a streamed answer that was too long to keep. */
  digest: Type.Optional(Type.Object({ bytes: Type.Integer(), sha256: Type.String() })),
  /** The answer had not ended when the bundle was made, or its client had left: a replay compares only status and headers. */
  open: Type.Optional(Type.Boolean()),
});
export type BundleAnswer = Static<typeof Answer>;

/** One attempt to deliver an event to a receiver. */
const RecordedAttempt = Type.Object({
  response_code: Type.Integer(),
  ended_at: Type.Optional(Timestamp()),
  /** The number of restores before the attempt; 0 if absent. Attempts that a restore cancelled are left out. */
  restores: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type RecordedAttempt = Static<typeof RecordedAttempt>;

const RequestStep = Type.Object({
  request: Type.Object({
    /** The number of earlier requests, also of those without an answer. The ids that this request creates depend on it. */
    number: Type.Optional(Type.Integer({ minimum: 0 })),
    /** On the sandbox's clock. */
    at: Timestamp(),
    /** When the request's changes were committed, on the sandbox's clock, if later than `at`. */
    committed: Type.Optional(Timestamp()),
    method: Type.String(),
    /** Path and query with the sandbox's prefix; requests to the sandbox `default` have none. */
    target: Type.String(),
    headers: Headers,
    /** The base of the URLs in its answer. */
    base_url: Type.Optional(Type.String()),
    body: Type.Optional(Body),
  }),
  answer: Answer,
});
export type RequestStep = Static<typeof RequestStep>;

const ControlStep = Type.Object({
  control: Type.Object({
    operation: Type.String(),
    method: Type.String(),
    path: Type.String(),
    /** JSON as a text; placeholders replace secrets. */
    body: Type.Optional(Type.String()),
    status: Type.Integer(),
    /** The sandbox's clock after the call. */
    now: Timestamp(),
    /** The sandbox's clock at the world's latest change. For a restore, which moves the clock: the time just before it. */
    changed: Timestamp(),
    /** Whether the call added an entry to the history. A replay adds it too, so that a later rewind finds the same id. */
    history: Type.Optional(Type.Boolean()),
  }),
});
export type ControlStep = Static<typeof ControlStep>;

/** The input of `understudy replay` (interfaces.md 4): a world, its requests and calls, and its answers. */
export const Bundle = Type.Object(
  {
    format: Type.Literal(BUNDLE_FORMAT),
    version: Type.Integer({ minimum: 1 }),
    /** The version of Understudy that wrote the bundle. */
    understudy: Type.String(),
    sandbox: Type.String(),
    fixture: Type.Object({ name: Type.String(), document: Type.Unsafe<object>({ type: "object" }) }),
    seed: Type.Integer(),
    /** How often the sandbox was reset: secrets are generated from the seed and this number. */
    resets: Type.Integer({ minimum: 0 }),
    clock: Type.Object({
      mode: StringEnum(["real", "frozen", "scaled"]),
      start: Timestamp(),
      rate: Type.Optional(Type.Number()),
    }),
    settings: Type.Unsafe<Record<string, unknown>>({ type: "object" }),
    /** The sources of the user's own operations, which a replay needs; `sha256` is absent if a source is not a file. */
    operations: Type.Optional(
      Type.Array(Type.Object({ source: Type.String(), sha256: Type.Optional(Type.String()) })),
    ),
    /** The OpenAPI document that the sandbox was created with, if it has one of its own. */
    document: Type.Optional(
      Type.Object({ openapi: Type.Unknown(), bindings: Type.Optional(Type.Unknown()) }),
    ),
    /** The scenarios in use; the `active` ones are active at first, in their order. */
    scenarios: Type.Array(
      Type.Object({ name: Type.String(), document: Type.Unsafe<object>({ type: "object" }) }),
    ),
    active: Type.Array(Type.String()),
    /** The delay of every answer, if the server was started with one. */
    delay: Type.Optional(DelaySchema),
    /** Answers of receivers and their instants, by delivery and attempt; a replay calls no receiver. */
    deliveries: Type.Unsafe<Record<string, RecordedAttempt[]>>({
      type: "object",
      additionalProperties: { type: "array", items: RecordedAttempt },
    }),
    steps: Type.Array(Type.Union([RequestStep, ControlStep])),
  },
  {
    $id: "Bundle",
    description: "The input of `understudy replay`: a world, its requests and calls, and its answers",
    examples: [
      {
        format: BUNDLE_FORMAT,
        version: BUNDLE_VERSION,
        understudy: "0.1.0",
        sandbox: "default",
        fixture: { name: "reference", document: {} },
        seed: 1,
        resets: 0,
        clock: { mode: "frozen", start: "2026-03-15T12:00:00.000Z" },
        settings: {},
        scenarios: [],
        active: [],
        deliveries: {},
        steps: [],
      },
    ],
  },
);
export type Bundle = Static<typeof Bundle>;

/**
 * Parses the text of a bundle's file. @throws DocumentError if it is not a bundle, or was written by a newer Understudy
 */
export function readBundle(text: string, file: string): Bundle {
  const refuse = (field: string, message: string): never => {
    throw new DocumentError([{ file, line: 0, column: 0, field, message }]);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refuse("", `this is not JSON: ${(error as Error).message}`);
  }
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown };
  if (format !== BUNDLE_FORMAT)
    refuse(
      "format",
      "this is not a bundle; create one with `understudy bundle` or POST /_control/sandboxes/{name}/bundle",
    );
  if (typeof version === "number" && version > BUNDLE_VERSION) {
    refuse(
      "version",
      `this bundle was written by a newer Understudy (version ${version}, this one knows ${BUNDLE_VERSION}); update Understudy`,
    );
  }
  const validate = toValidator(Bundle);
  if (!validate(value)) {
    // A damaged step fails the schemas of both kinds; the deepest error is that of the kind that was meant.
    const [error] = validate.errors!.toSorted((a, b) => b.instancePath.length - a.instancePath.length);
    const { instancePath, message, keyword } = error!;
    // Only timestamps have a format.
    const requirement =
      keyword === "format" ? "must be an instant such as 2026-03-15T12:00:00.000Z" : message;
    refuse(instancePath, `the bundle is damaged: ${instancePath || "it"} ${requirement}`);
  }
  return value as Bundle;
}

/** The error for a sandbox that cannot be put into a bundle; `advice` says what to do (interfaces.md 4). */
export class BundleRefusal extends Error {
  override readonly name = "BundleRefusal";
  readonly kind: "not-replayable" | "journal-incomplete";
  readonly advice: string;

  constructor(kind: BundleRefusal["kind"], detail: string, advice: string) {
    super(detail);
    this.kind = kind;
    this.advice = advice;
  }
}
