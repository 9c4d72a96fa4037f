import { type Static, Type } from "typebox";
import type { ErrorCode } from "../../contract/errors.ts";
import { Id, StringEnum, Timestamp } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";
import { ContentBlock, MESSAGE_ROLES } from "../threads/schema.ts";

/** The most texts in the sequence of a reply rule. */
const MAX_SEQUENCE = 1000;

/** The maximum of 2.13. */
export const MAX_MESSAGE_FILES = 10;

const messageFields = {
  role: StringEnum(MESSAGE_ROLES),
  content: Type.Optional(
    Type.Union([
      Type.String(),
      Type.Array(ContentBlock, {
        contains: { properties: { type: { const: "file" } } },
        minContains: 0,
        maxContains: MAX_MESSAGE_FILES,
      }),
    ]),
  ),
  texts: Type.Optional(
    Type.Array(Type.Object({ text: Type.String() }), {
      description: "The shorter form, instead of `content`",
    }),
  ),
  files: Type.Optional(Type.Array(Type.Object({ file_id: Id("file_") }), { maxItems: MAX_MESSAGE_FILES })),
};

/** A message (section 2.13) in either form: with `content`, or with `texts` of the API overview (G20). */
export const InputMessage = Type.Object(
  { ...messageFields, id: Type.Optional(Type.String()) },
  // `role` is required above already; repeated, so that a message without role and content is refused for its role.
  { $id: "InputMessage", if: { required: ["texts"] }, else: { required: ["role", "content"] } },
);
export type InputMessage = Static<typeof InputMessage>;

export const ModelResponse = Type.Object(
  {
    id: Id("resp_"),
    object: Type.Literal("model.response"),
    created_at: Timestamp(),
    model: Type.String(),
    output: Type.Array(
      Type.Object({
        type: Type.Literal("message"),
        role: Type.Literal("assistant"),
        content: Type.Array(Type.Object({ type: Type.Literal("text"), text: Type.String() })),
      }),
    ),
    usage: Type.Object({
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
      cost: Type.Number(),
      currency: Type.Literal("CHF"),
    }),
    inputs: Type.Array(Type.Object({ id: Type.String(), ...messageFields })),
  },
  { $id: "ModelResponse" },
);

/** Defines the reply to matching requests (G20). */
export const ReplyRule = Type.Object({
  id: Id("reply_"),
  /** Rules are tried in this order. */
  position: Type.Integer({ minimum: 0 }),
  /** Every given condition must hold; no condition matches everything. */
  match: Type.Object(
    {
      model: Type.Optional(Type.String({ minLength: 1 })),
      text: Type.Optional(Type.String({ minLength: 1 })),
      file_id: Type.Optional(Id("file_")),
    },
    { additionalProperties: false },
  ),
  /** A rule has one of reply, sequence and error. */
  reply: Type.Optional(Type.String()),
  /** A text for each call; the last one repeats. */
  sequence: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: MAX_SEQUENCE })),
  /** An error code of the operation. */
  error: Type.Optional(Type.Unsafe<ErrorCode>(Type.String())),
  /** The delay of the answer, such as `200ms`. */
  delay: Type.Optional(Type.Unsafe<string | number>({ type: ["string", "number"] })),
  /** The position of the next text of the sequence, from 0. */
  turn: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type ReplyRule = Static<typeof ReplyRule>;

export const replyRules = collection({
  name: "reply_rules",
  schema: ReplyRule,
  indexes: { in_order: { groups: () => [""], order: ({ position }) => position } },
});
