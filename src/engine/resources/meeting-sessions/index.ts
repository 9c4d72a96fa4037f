import type { Resource } from "../../contract/resource.ts";
import { makeLog, makeRecording, makeSession, makeTranscript, meetingSessionsFixture } from "./fixtures.ts";
import { deletePermanently, exportTranscript, stopMeeting } from "./operations.ts";
import {
  meetingArrivals,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingTranscripts,
} from "./schema.ts";
import {
  followLiveMeetings,
  logState,
  recordingState,
  sessionState,
  speakLine,
  transcriptState,
} from "./state.ts";
import { streamLogs, streamStatus, streamTranscripts } from "./streams.ts";

export const meetingSessionsResource = {
  name: "meeting_sessions",
  collections: [meetingSessions, meetingTranscripts, meetingLogs, meetingRecordings, meetingArrivals],
  operations: [exportTranscript, deletePermanently, stopMeeting, streamTranscripts, streamStatus, streamLogs],
  factories: {
    meeting_sessions: makeSession,
    meeting_transcripts: makeTranscript,
    meeting_logs: makeLog,
    meeting_recordings: makeRecording,
  },
  fixture: meetingSessionsFixture,
  timers: { "meeting.line": speakLine },
  followSettings: followLiveMeetings,
  state: {
    meeting_sessions: sessionState,
    meeting_transcripts: transcriptState,
    meeting_logs: logState,
    meeting_recordings: recordingState,
  },
} satisfies Resource;
