import { Type } from "typebox";
import { operation } from "../../contract/operation.ts";
import { removeWithDependents } from "../../contract/removal.ts";
import { noContent, RawBody, Reply } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id, StringEnum } from "../../contract/schema.ts";
import type { WorldReader } from "../../state/transaction.ts";
import { requireCaller } from "../organizations/access.ts";
import { formatClockTime, toOneLine, toSrt } from "../transcriptions/formats.ts";
import { makeLog, makeRecording, makeSession, makeTranscript, meetingSessionsFixture } from "./fixtures.ts";
import {
  addSpokenLine,
  logStateRules,
  MANAGED_SESSION_ERRORS,
  recordingStateRules,
  requireManagedSession,
  requireSession,
  SESSION_ERRORS,
  sessionStateRules,
  stopSession,
  transcriptStateRules,
  updateLineTimers,
} from "./rules.ts";
import {
  MeetingSessionBody,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingStreamEntries,
  meetingTranscripts,
  renderSession,
  renderTranscript,
  type TranscriptEntry,
  TranscriptEntryBody,
} from "./schema.ts";
import { streamLogs, streamStatus, streamTranscripts } from "./streams.ts";

const SessionParams = Type.Object({ session_id: Id("mbsess_") });

const EXPORT_FORMATS = ["txt", "srt", "json"] as const;
type ExportFormat = (typeof EXPORT_FORMATS)[number];

const PLAIN_TEXT = "text/plain";

const WRITERS: Record<ExportFormat, (entries: Iterable<TranscriptEntry>, world: WorldReader) => unknown> = {
  txt: (entries) => new RawBody(PLAIN_TEXT, toText(entries)),
  srt: (entries) => new RawBody(PLAIN_TEXT, toSrt(toCues(entries))),
  json: (entries, world) => Array.from(entries, (entry) => renderTranscript(entry, world)),
};

const exportTranscript = operation({
  id: "meeting_sessions.export_transcript",
  section: "4.1",
  assumptions: ["G03", "G16", "G28"],
  assumed: { values: { "/*/confidence": "G16", "/*/language_code": "G16" } },
  route: "GET /v1/meeting-buddy/sessions/{session_id}/transcripts/export",
  summary: "Export a meeting's transcript",
  description:
    "The file is text with time and speaker on each line (`txt`), SRT subtitles, or a JSON array of entries. In `txt` and `srt`, line breaks inside an entry become spaces.",
  params: SessionParams,
  query: Type.Object({ format: StringEnum(EXPORT_FORMATS, { default: "txt" }) }),
  errors: SESSION_ERRORS,
  success: {
    status: 200,
    schema: Type.Array(TranscriptEntryBody),
    content_types: ["text/plain"],
    headers: ["Content-Disposition"],
  },
  access: requireSession,
  handle({ query: { format }, world }, { session_id }) {
    const entries = world.index(meetingTranscripts, "by_session", session_id);
    // The id's alphabet needs no quoting or encoding in a file name (RFC 6266).
    return new Reply(200, WRITERS[format](entries, world), {
      "Content-Disposition": `attachment; filename="transcript_${session_id}.${format}"`,
    });
  },
});

const deletePermanently = operation({
  id: "meeting_sessions.delete_permanently",
  section: "4.2",
  assumptions: ["G16"],
  assumed: { envelope: "G16" },
  route: "DELETE /v1/meeting-buddy/sessions/{session_id}/permanent",
  summary: "Delete a meeting session for good",
  description: "Also deletes the session's transcripts, logs and recording metadata.",
  params: SessionParams,
  errors: MANAGED_SESSION_ERRORS,
  success: { status: 204 },
  access: requireManagedSession,
  handle({ world }, { session_id }) {
    removeWithDependents(world, meetingSessions, session_id);
    return noContent();
  },
});

const stopMeeting = operation({
  id: "meeting_sessions.stop",
  section: "G16",
  assumptions: ["G16"],
  route: "POST /v1/meeting-buddy/sessions/{session_id}/stop",
  summary: "Stop a running meeting session",
  description: "The session's data stay.",
  params: SessionParams,
  errors: MANAGED_SESSION_ERRORS,
  success: { status: 200, schema: MeetingSessionBody },
  access: requireManagedSession,
  handle(call, session) {
    return renderSession(stopSession(call.world, session, requireCaller(call).name), call.world);
  },
});

function toText(entries: Iterable<TranscriptEntry>): string {
  let text = "";
  for (const entry of entries) text += `[${formatClockTime(entry.start_time)}] ${formatEntry(entry)}\n`;
  return text;
}

function* toCues(entries: Iterable<TranscriptEntry>) {
  for (const entry of entries)
    yield { start: entry.start_time, end: entry.end_time, text: formatEntry(entry) };
}

/** `speaker: text` on one line, since a line break would begin a line that looks like another entry (G28). */
function formatEntry({ speaker, text }: TranscriptEntry): string {
  return `${toOneLine(speaker)}: ${toOneLine(text)}`;
}

export const meetingSessionsResource = {
  name: "meeting_sessions",
  collections: [meetingSessions, meetingTranscripts, meetingLogs, meetingRecordings, meetingStreamEntries],
  operations: [exportTranscript, deletePermanently, stopMeeting, streamTranscripts, streamStatus, streamLogs],
  factories: {
    meeting_sessions: makeSession,
    meeting_transcripts: makeTranscript,
    meeting_logs: makeLog,
    meeting_recordings: makeRecording,
  },
  fixture: meetingSessionsFixture,
  timers: { "meeting.line": addSpokenLine },
  followSettings: updateLineTimers,
  state: {
    meeting_sessions: sessionStateRules,
    meeting_transcripts: transcriptStateRules,
    meeting_logs: logStateRules,
    meeting_recordings: recordingStateRules,
  },
} satisfies Resource;
