import Type, { type Static } from "typebox";
import { Id, Instant, Nullable, NullableInstant, Timestamp, UserId, Words } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

export const SESSION_STATUSES = ["running", "completed"] as const;
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;

const sessionFields = {
  session_id: Id("mbsess_"),
  title: Type.String(),
  status: Words(SESSION_STATUSES),
  language_code: Type.String({ minLength: 2, maxLength: 35 }),
  owner_id: UserId(),
  organization_id: Id("org_"),
};

/** G16, as it is stored. */
export const MeetingSession = Type.Object({
  ...sessionFields,
  started_at: Instant(),
  ended_at: NullableInstant(),
  has_recording: Type.Boolean(),
});
export type MeetingSession = Static<typeof MeetingSession>;

/** G16, as it is answered. */
export const MeetingSessionBody = Type.Object(
  {
    ...sessionFields,
    started_at: Timestamp(),
    ended_at: Nullable(Timestamp()),
    has_recording: Type.Boolean(),
  },
  { $id: "MeetingSession" },
);

export const meetingSessions = collection<MeetingSession>({
  name: "meeting_sessions",
  prefix: "mbsess_",
  idField: "session_id",
  schema: MeetingSession,
});

const entryFields = {
  transcript_id: Id("mbtrans_"),
  text: Type.String(),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  start_time: Type.Number({ minimum: 0, description: "Seconds" }),
  end_time: Type.Number({ minimum: 0, description: "Seconds" }),
  speaker: Type.String(),
  language_code: Type.String({ minLength: 2, maxLength: 35 }),
};

/** Section 2.4, as it is exported and streamed. */
export const TranscriptEntryBody = Type.Object(entryFields, { $id: "TranscriptEntry" });
export type TranscriptEntryBody = Static<typeof TranscriptEntryBody>;

/** Section 2.4 with its session, as it is stored. */
export const TranscriptEntry = Type.Object({ ...entryFields, session_id: Id("mbsess_") });
export type TranscriptEntry = Static<typeof TranscriptEntry>;

export const meetingTranscripts = collection<TranscriptEntry>({
  name: "meeting_transcripts",
  prefix: "mbtrans_",
  idField: "transcript_id",
  schema: TranscriptEntry,
  indexes: {
    by_session: { groups: ({ session_id }) => [session_id], order: ({ start_time }) => start_time },
  },
});

export const MeetingLog = Type.Object({
  id: Id("mblog_"),
  session_id: Id("mbsess_"),
  at: Instant(),
  level: Words(LOG_LEVELS),
  message: Type.String(),
});
export type MeetingLog = Static<typeof MeetingLog>;

export const meetingLogs = collection<MeetingLog>({
  name: "meeting_logs",
  prefix: "mblog_",
  idField: "id",
  schema: MeetingLog,
  indexes: { by_session: { groups: ({ session_id }) => [session_id], order: ({ at }) => at } },
});

/** What 4.2 calls recording metadata; the recording itself is not emulated. */
export const MeetingRecording = Type.Object({
  recording_id: Id("mbrec_"),
  session_id: Id("mbsess_"),
  mime_type: Type.String(),
  started_at: Instant(),
  duration_seconds: Nullable(Type.Number({ minimum: 0 })),
  size_bytes: Nullable(Type.Integer({ minimum: 0 })),
});
export type MeetingRecording = Static<typeof MeetingRecording>;

export const meetingRecordings = collection<MeetingRecording>({
  name: "meeting_recordings",
  prefix: "mbrec_",
  idField: "recording_id",
  schema: MeetingRecording,
  indexes: {
    by_session: { groups: ({ session_id }) => [session_id], order: ({ started_at }) => started_at },
  },
});

/** One line of what came to a session, in the order it came. */
export interface Arrival {
  id: string;
  session_id: string;
  kind: "transcript" | "log";
  /** From 1 on, per session and kind: the event id of the stream. */
  position: number;
  record_id: string;
}

/**
 * Streams go by arrival and resume by position; an entry that is deleted keeps its position, so that no
 * other is ever given the same event id.
 */
export const meetingArrivals = collection<Arrival>({
  name: "_meeting_arrivals",
  prefix: "",
  idField: "id",
  internal: true,
  schema: Type.Object({
    id: Type.String(),
    session_id: Type.String(),
    kind: Words(["transcript", "log"]),
    position: Type.Integer({ minimum: 1 }),
    record_id: Type.String(),
  }),
  indexes: {
    by_stream: {
      groups: ({ session_id, kind }) => [`${session_id}/${kind}`],
      order: ({ position }) => position,
    },
  },
});
