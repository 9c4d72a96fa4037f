import { type Static, Type } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, Instant, Nullable, NullableInstant, StringEnum, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

export const SESSION_STATUSES = ["running", "completed"] as const;
const LanguageCode = () => Type.String({ minLength: 2, maxLength: 35 });

/** The fields of a session are assumed (G16). */
export const MeetingSession = Type.Object({
  session_id: Id("mbsess_"),
  title: Type.String(),
  status: StringEnum(SESSION_STATUSES),
  language_code: LanguageCode(),
  owner_id: UserId(mentions("users")),
  organization_id: Id("org_", belongsTo("organizations")),
  started_at: Instant(),
  ended_at: NullableInstant(),
  has_recording: Type.Boolean(),
});
export type MeetingSession = Static<typeof MeetingSession>;

export const { schema: MeetingSessionBody, render: renderSession } = publicView(MeetingSession, {
  $id: "MeetingSession",
});

export const meetingSessions = collection({
  name: "meeting_sessions",
  idField: "session_id",
  schema: MeetingSession,
  timer: "meeting.line",
  indexes: {
    running: {
      groups: ({ status }) => (status === "running" ? [""] : []),
      order: ({ started_at }) => started_at,
    },
  },
});

/** An entry of a session's transcript (section 2.4). */
export const TranscriptEntry = Type.Object({
  transcript_id: Id("mbtrans_"),
  text: Type.String(),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  start_time: Type.Number({ minimum: 0, description: "Seconds" }),
  end_time: Type.Number({ minimum: 0, description: "Seconds" }),
  speaker: Type.String(),
  language_code: LanguageCode(),
  session_id: Id("mbsess_", belongsTo("meeting_sessions")),
});
export type TranscriptEntry = Static<typeof TranscriptEntry>;

/** The exported and streamed body; the path has the session. */
export const { schema: TranscriptEntryBody, render: renderTranscript } = publicView(TranscriptEntry, {
  $id: "TranscriptEntry",
  omit: ["session_id"],
});
export type TranscriptEntryBody = Static<typeof TranscriptEntryBody>;

export const meetingTranscripts = collection({
  name: "meeting_transcripts",
  idField: "transcript_id",
  schema: TranscriptEntry,
  indexes: {
    by_session: { groups: "session_id", order: ({ start_time }) => start_time },
  },
});

export const MeetingLog = Type.Object({
  id: Id("mblog_"),
  session_id: Id("mbsess_", belongsTo("meeting_sessions")),
  at: Instant(),
  level: StringEnum(["debug", "info", "warning", "error"]),
  message: Type.String(),
});
export type MeetingLog = Static<typeof MeetingLog>;

/** The streamed body. */
export const { schema: MeetingLogBody, render: renderLog } = publicView(MeetingLog, {
  $id: "MeetingLog",
  omit: ["id", "session_id"],
});

export const meetingLogs = collection({
  name: "meeting_logs",
  schema: MeetingLog,
  indexes: { by_session: { groups: "session_id", order: ({ at }) => at } },
});

/** The recording metadata of section 4.2; the recording itself is not emulated. */
export const MeetingRecording = Type.Object({
  recording_id: Id("mbrec_"),
  session_id: Id("mbsess_", belongsTo("meeting_sessions")),
  mime_type: Type.String(),
  started_at: Instant(),
  duration_seconds: Nullable(Type.Number({ minimum: 0 })),
  size_bytes: Nullable(Type.Integer({ minimum: 0 })),
});
export type MeetingRecording = Static<typeof MeetingRecording>;

export const meetingRecordings = collection({
  name: "meeting_recordings",
  idField: "recording_id",
  schema: MeetingRecording,
  indexes: {
    by_session: { groups: "session_id", order: ({ started_at }) => started_at },
  },
});

/** A place in the stream of a session's transcript or log, for the record that was added there. */
const StreamEntry = Type.Object({
  id: Type.String(),
  session_id: Type.String(belongsTo("meeting_sessions")),
  kind: StringEnum(["transcript", "log"]),
  /** The event id of the stream: from 1 on, per session and kind. */
  position: Type.Integer({ minimum: 1 }),
  /** Null if the record was deleted or moved to another session. */
  record_id: Nullable(Type.String()),
});
export type StreamEntry = Static<typeof StreamEntry>;

/**
 * Streams send records in the order in which they were added, and resume by position. The entry of a deleted record keeps
 * its position, so that no other entry has the same event id.
 */
export const meetingStreamEntries = collection({
  name: "_meeting_stream_entries",
  internal: true,
  schema: StreamEntry,
  indexes: {
    by_stream: {
      groups: ({ session_id, kind }) => [`${session_id}/${kind}`],
      order: ({ position }) => position,
    },
  },
});
