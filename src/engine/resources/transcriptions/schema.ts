import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, Instant, Nullable, NullableInstant, StringEnum, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** For example `person_name`; its alphabet is limited, because it is sent in a header. */
const PiiPolicy = Type.String({ pattern: "^[a-z][a-z_]{0,63}$", examples: ["person_name"] });

export const Transcription = Type.Object({
  transcription_id: Id("trans_"),
  organization_id: Id("org_", belongsTo("organizations")),
  owner_id: UserId(mentions("users")),
  status: StringEnum(["processing", "completed", "failed"]),
  filename: Type.String({ minLength: 1 }),
  language_code: Type.String({ minLength: 2, maxLength: 35 }),
  audio_duration_seconds: Type.Number({ minimum: 0 }),
  pii_redaction: Nullable(Type.Array(PiiPolicy, { minItems: 1, uniqueItems: true })),
  processing_time_ms: Type.Integer({ minimum: 0 }),
  upstream_latency_ms: Type.Integer({ minimum: 0 }),
  retry_attempts: Type.Integer({ minimum: 0 }),
  cache_hit: Type.Boolean(),
  created_at: Instant(),
  completed_at: NullableInstant(),
  /** The last change of the transcription or a sentence, for `Last-Modified`. */
  updated_at: Instant(),
});
export type Transcription = Static<typeof Transcription>;

export const transcriptions = collection({
  name: "transcriptions",
  idField: "transcription_id",
  schema: Transcription,
  timer: "transcription.step",
});

/** A sentence of a transcription (section 2.5). */
export const Sentence = Type.Object({
  id: Id("sent_"),
  transcription_id: Id("trans_", belongsTo("transcriptions")),
  text: Type.String(),
  start: Type.Number({ minimum: 0, description: "Seconds" }),
  end: Type.Number({ minimum: 0, description: "Seconds" }),
});
export type Sentence = Static<typeof Sentence>;

/** The body of a sentence; a paragraph has the same fields. */
export const { schema: TimedText, render: renderSentence } = publicView(Sentence, {
  $id: "TimedText",
  omit: ["id", "transcription_id"],
});
export type TimedText = Static<typeof TimedText>;

export const sentences = collection({
  name: "sentences",
  schema: Sentence,
  indexes: {
    by_transcription: { groups: "transcription_id", order: ({ start }) => start },
  },
});
