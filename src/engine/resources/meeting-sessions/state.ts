import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { goOnSpeaking } from "./live.ts";
import {
  addLog,
  addTranscript,
  finishRecordings,
  forgetArrival,
  recordArrival,
  removeRecordings,
  startRecording,
  writeLog,
} from "./rules.ts";
import {
  type Arrival,
  type MeetingLog,
  type MeetingRecording,
  type MeetingSession,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingTranscripts,
  type TranscriptEntry,
} from "./schema.ts";

/** G16: sessions begin and grow through state calls, as the assistant in a meeting would make them grow. */
export const sessionRules: StateRules<MeetingSession> = {
  insert(tx, record, { settings }) {
    requireSound(tx, record);
    tx.insert(meetingSessions, record);
    if (record.status === "running") goOnSpeaking(tx, record, settings);
    writeLog(tx, record.session_id, { message: "Session started." });
    if (record.has_recording) startRecording(tx, record);
    if (record.ended_at !== null) writeLog(tx, record.session_id, { message: "Session ended." });
    return record;
  },
  update(tx, before, given, { settings }) {
    const after = withEnd(before, given, tx.now);
    requireSound(tx, after);
    tx.put(meetingSessions, after);
    const { session_id } = after;
    if (after.has_recording && !before.has_recording) startRecording(tx, after);
    if (!after.has_recording && before.has_recording) removeRecordings(tx, session_id);
    if (before.status !== after.status) {
      if (after.status === "completed") {
        tx.unschedule("meeting.line", session_id);
        finishRecordings(tx, after);
      } else goOnSpeaking(tx, after, settings);
      writeLog(tx, session_id, {
        message: after.status === "completed" ? "Session ended." : "Session resumed.",
      });
    }
    return after;
  },
};

/** The end follows from the status, unless the call gives it itself. */
function withEnd(before: MeetingSession, after: MeetingSession, now: number): MeetingSession {
  if (before.status === after.status || before.ended_at !== after.ended_at) return after;
  return { ...after, ended_at: after.status === "completed" ? Math.max(now, after.started_at) : null };
}

function requireSound(tx: Transaction, session: MeetingSession): void {
  const { status, started_at, ended_at } = session;
  const shown = ended_at === null ? null : tx.iso(ended_at);
  if (status === "running" && ended_at !== null)
    throw invalidInput("ended_at", shown, "a running session has not ended");
  if (status === "completed" && ended_at === null)
    throw invalidInput("ended_at", shown, "a completed session has an end");
  if (ended_at !== null && ended_at < started_at)
    throw invalidInput("ended_at", shown, "ended_at must not lie before started_at");
}

export const transcriptRules: StateRules<TranscriptEntry> = {
  insert(tx, record) {
    requireSpan(record);
    return addTranscript(tx, record);
  },
  update(tx, before, after) {
    requireSpan(after);
    tx.put(meetingTranscripts, after);
    follow(tx, { before, after, entry: { kind: "transcript", record_id: after.transcript_id } });
    return after;
  },
  remove: (tx, { session_id, transcript_id }) =>
    forgetArrival(tx, session_id, { kind: "transcript", record_id: transcript_id }),
};

function requireSpan({ start_time, end_time }: TranscriptEntry): void {
  if (end_time < start_time)
    throw invalidInput("end_time", end_time, "end_time must not lie before start_time");
}

export const logRules: StateRules<MeetingLog> = {
  insert: addLog,
  update(tx, before, after) {
    tx.put(meetingLogs, after);
    follow(tx, { before, after, entry: { kind: "log", record_id: after.id } });
    return after;
  },
  remove: (tx, { session_id, id }) => forgetArrival(tx, session_id, { kind: "log", record_id: id }),
};

interface Move {
  before: { session_id: string };
  after: { session_id: string };
  entry: { kind: Arrival["kind"]; record_id: string };
}

/** Streams of both sessions hear of an entry that moves. */
function follow(tx: Transaction, { before, after, entry }: Move): void {
  if (before.session_id === after.session_id) return;
  forgetArrival(tx, before.session_id, entry);
  recordArrival(tx, after.session_id, entry);
}

/** `has_recording` of a session says whether it has any of these. */
export const recordingRules: StateRules<MeetingRecording> = {
  insert(tx, record) {
    tx.update(meetingSessions, record.session_id, { has_recording: true });
    return tx.insert(meetingRecordings, record);
  },
  update(tx, before, after) {
    tx.put(meetingRecordings, after);
    for (const id of new Set([before.session_id, after.session_id])) markRecorded(tx, id);
    return after;
  },
  remove(tx, record) {
    tx.remove(meetingRecordings, record.recording_id);
    markRecorded(tx, record.session_id);
  },
};

function markRecorded(tx: Transaction, session_id: string): void {
  const { size } = tx.index(meetingRecordings, "by_session", session_id);
  if (tx.get(meetingSessions, session_id))
    tx.update(meetingSessions, session_id, { has_recording: size > 0 });
}
