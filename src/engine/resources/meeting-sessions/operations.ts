import Type from "typebox";
import { operation } from "../../contract/operation.ts";
import { removeWithDependents } from "../../contract/removal.ts";
import { noContent, Reply } from "../../contract/reply.ts";
import { Id, Words } from "../../contract/schema.ts";
import { callerOf } from "../organizations/access.ts";
import { MANAGED_SESSION_ERRORS, requireManagedSession, requireSession, SESSION_ERRORS } from "./access.ts";
import { stopSession } from "./rules.ts";
import {
  MeetingSessionBody,
  meetingSessions,
  meetingTranscripts,
  presentSession,
  TranscriptEntryBody,
} from "./schema.ts";
import { EXPORT_FORMATS, WRITERS } from "./transcript-formats.ts";

const Params = Type.Object({ session_id: Id("mbsess_") });

export const exportTranscript = operation({
  id: "meeting_sessions.export_transcript",
  section: "4.1",
  assumptions: ["G03", "G16", "G28"],
  assumed: { fields: { "/*/confidence": "G16", "/*/language_code": "G16" } },
  method: "GET",
  path: "/v1/meeting-buddy/sessions/{session_id}/transcripts/export",
  summary: "Export a meeting's transcript",
  description:
    "A file download: text with a time and a speaker on each line, SRT subtitles, or the entries as a JSON array. Line breaks inside an entry become spaces in the first two.",
  params: Params,
  query: Type.Object({ format: Type.Optional(Words(EXPORT_FORMATS, { default: "txt" })) }),
  errors: SESSION_ERRORS,
  success: {
    status: 200,
    schema: Type.Array(TranscriptEntryBody),
    content_types: ["text/plain"],
    headers: ["Content-Disposition"],
  },
  access: requireSession,
  handle({ query: { format = "txt" }, world }, { session_id }) {
    const entries = world.index(meetingTranscripts, "by_session", session_id);
    // The id's alphabet needs no quoting or encoding in a file name (RFC 6266).
    return new Reply(200, WRITERS[format](entries), {
      "Content-Disposition": `attachment; filename="transcript_${session_id}.${format}"`,
    });
  },
});

export const deletePermanently = operation({
  id: "meeting_sessions.delete_permanently",
  section: "4.2",
  assumptions: ["G16"],
  assumed: { envelope: "G16" },
  method: "DELETE",
  path: "/v1/meeting-buddy/sessions/{session_id}/permanent",
  summary: "Delete a meeting session for good",
  description:
    "Removes the session with its transcripts, logs and recording metadata; nothing brings it back.",
  params: Params,
  errors: MANAGED_SESSION_ERRORS,
  success: { status: 204 },
  access: requireManagedSession,
  handle({ world }, { session_id }) {
    removeWithDependents(world, meetingSessions, session_id);
    return noContent();
  },
});

export const stopMeeting = operation({
  id: "meeting_sessions.stop",
  section: "G16",
  assumptions: ["G16"],
  method: "POST",
  path: "/v1/meeting-buddy/sessions/{session_id}/stop",
  summary: "Stop a running meeting session",
  description: "Keeps all data. Stopping a session that has ended changes nothing.",
  params: Params,
  errors: MANAGED_SESSION_ERRORS,
  success: { status: 200, schema: MeetingSessionBody },
  access: requireManagedSession,
  handle(call, session) {
    return presentSession(stopSession(call.world, session, callerOf(call).name), call.world);
  },
});
