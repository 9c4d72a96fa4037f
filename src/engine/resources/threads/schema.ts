import { type Static, Type } from "typebox";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, Instant, StringEnum, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** The roles of 2.13. */
export const MESSAGE_ROLES = ["user", "system", "assistant"] as const;

export const Thread = Type.Object({
  id: Id("thread_"),
  organization_id: Id("org_", belongsTo("organizations")),
  owner_id: UserId(mentions("users")),
  title: Type.String(),
  created_at: Instant(),
});
export type Thread = Static<typeof Thread>;

export const threads = collection({
  name: "threads",
  schema: Thread,
});

/** A block of a message (section 2.13); its type decides which other field is required (`else`, as lint forbids `then`). */
export const ContentBlock = Type.Object(
  {
    type: StringEnum(["text", "file"]),
    text: Type.Optional(Type.String()),
    file_id: Type.Optional(Id("file_")),
  },
  {
    allOf: [
      { if: { properties: { type: { not: { const: "text" } } } }, else: { required: ["text"] } },
      { if: { properties: { type: { not: { const: "file" } } } }, else: { required: ["file_id"] } },
    ],
  },
);
export type ContentBlock = Static<typeof ContentBlock>;

export const Message = Type.Object({
  id: Id("msg_"),
  thread_id: Id("thread_", belongsTo("threads")),
  role: StringEnum(MESSAGE_ROLES),
  content: Type.Union([Type.String(), Type.Array(ContentBlock)]),
  created_at: Instant(),
});
export type Message = Static<typeof Message>;

export const messages = collection({
  name: "messages",
  schema: Message,
  indexes: {
    by_thread: { groups: "thread_id", order: ({ created_at }) => created_at },
  },
});
