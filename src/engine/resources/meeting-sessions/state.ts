import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Settings } from "../../contract/settings.ts";
import { timerId, timers } from "../../state/timers.ts";
import type { Transaction } from "../../state/transaction.ts";
import { listSpeakers } from "./fixtures.ts";
import {
  addLog,
  addTranscript,
  clearArrival,
  finishRecordings,
  milliseconds,
  recordArrival,
  removeRecordings,
  startRecording,
  writeLog,
} from "./rules.ts";
import { speakingSeconds, THEMES } from "./sample-text.ts";
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

/** State calls create sessions and add to them, in place of the assistant in a meeting (G16). */
export const sessionState: StateRules<MeetingSession> = {
  insert(tx, record, { settings }) {
    requireValid(tx, record);
    tx.insert(meetingSessions, record);
    if (record.status === "running") scheduleNextLine(tx, record, settings);
    writeLog(tx, record.session_id, { message: "Session started." });
    if (record.has_recording) startRecording(tx, record);
    if (record.ended_at !== null) writeLog(tx, record.session_id, { message: "Session ended." });
    return record;
  },
  update(tx, before, given, { settings }) {
    const after = withEnd(before, given, tx.now);
    requireValid(tx, after);
    tx.put(meetingSessions, after);
    const { session_id } = after;
    if (after.has_recording && !before.has_recording) startRecording(tx, after);
    if (!after.has_recording && before.has_recording) removeRecordings(tx, session_id);
    if (before.status !== after.status) {
      if (after.status === "completed") {
        tx.unschedule("meeting.line", session_id);
        finishRecordings(tx, after);
      } else scheduleNextLine(tx, after, settings);
      writeLog(tx, session_id, {
        message: after.status === "completed" ? "Session ended." : "Session resumed.",
      });
    }
    return after;
  },
};

/** The end follows from the status, unless the call gives an end. */
function withEnd(before: MeetingSession, after: MeetingSession, now: number): MeetingSession {
  if (before.status === after.status || before.ended_at !== after.ended_at) return after;
  return { ...after, ended_at: after.status === "completed" ? Math.max(now, after.started_at) : null };
}

function requireValid(tx: Transaction, session: MeetingSession): void {
  const { status, started_at, ended_at } = session;
  const value = ended_at === null ? null : tx.iso(ended_at);
  if (status === "running" && ended_at !== null)
    throw invalidInput("ended_at", value, "a running session has no end");
  if (status === "completed" && ended_at === null)
    throw invalidInput("ended_at", value, "a completed session has an end");
  if (ended_at !== null && ended_at < started_at)
    throw invalidInput("ended_at", value, "ended_at must not be before started_at");
}

export const transcriptState: StateRules<TranscriptEntry> = {
  insert(tx, record) {
    requireSpan(record);
    return addTranscript(tx, record);
  },
  update(tx, before, after) {
    requireSpan(after);
    tx.put(meetingTranscripts, after);
    moveArrival(tx, { before, after, entry: { kind: "transcript", record_id: after.transcript_id } });
    return after;
  },
  remove: (tx, { session_id, transcript_id }) =>
    clearArrival(tx, session_id, { kind: "transcript", record_id: transcript_id }),
};

function requireSpan({ start_time, end_time }: TranscriptEntry): void {
  if (end_time < start_time)
    throw invalidInput("end_time", end_time, "end_time must not be before start_time");
}

export const logState: StateRules<MeetingLog> = {
  insert: addLog,
  update(tx, before, after) {
    tx.put(meetingLogs, after);
    moveArrival(tx, { before, after, entry: { kind: "log", record_id: after.id } });
    return after;
  },
  remove: (tx, { session_id, id }) => clearArrival(tx, session_id, { kind: "log", record_id: id }),
};

interface Move {
  before: { session_id: string };
  after: { session_id: string };
  entry: { kind: Arrival["kind"]; record_id: string };
}

/** Moves an entry from the stream of one session to that of another. */
function moveArrival(tx: Transaction, { before, after, entry }: Move): void {
  if (before.session_id === after.session_id) return;
  clearArrival(tx, before.session_id, entry);
  recordArrival(tx, after.session_id, entry);
}

/** `has_recording` of a session follows from its recordings. */
export const recordingState: StateRules<MeetingRecording> = {
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

/** The time between two lines; each line is spoken in less. */
const SHORTEST_MS = 9_000;
const LONGEST_MS = 16_000;
/** The pauses double after this number of lines, so that a meeting that is never stopped stays small. */
const LINES_PER_SLOWDOWN = 500;

/** With `live_meetings` on, every running meeting has new lines; with it off, none has (G34). */
export function followLiveMeetings(tx: Transaction, settings: Settings): void {
  if (settings.live_meetings === "off") {
    for (const { subject } of tx.index(timers, "by_kind", "meeting.line"))
      tx.unschedule("meeting.line", subject);
    return;
  }
  for (const session of tx.index(meetingSessions, "running", "")) scheduleNextLine(tx, session, settings);
}

/** Schedules the next line of a running session, unless it is scheduled. */
export function scheduleNextLine(
  tx: Transaction,
  { session_id, started_at }: MeetingSession,
  { live_meetings }: Pick<Settings, "live_meetings">,
): void {
  if (live_meetings === "off" || tx.get(timers, timerId("meeting.line", session_id)) !== undefined) return;
  const silentSince = Math.max(tx.now, started_at + Math.round(lastEnd(tx, session_id) * 1000));
  tx.schedule({ kind: "meeting.line", subject: session_id, due: silentSince + LONGEST_MS });
}

/** Handles `meeting.line` timers: adds a line to a running meeting. */
export function speakLine(tx: Transaction, { subject, due }: { subject: string; due: number }): void {
  const session = tx.get(meetingSessions, subject);
  if (session?.status !== "running") return;
  const spoken = tx.index(meetingTranscripts, "by_session", subject).size;
  const random = tx.random("meeting_line");
  const theme = THEMES.find(({ titles }) => titles.includes(session.title)) ?? THEMES[0]!;
  const text = spoken === 0 ? random.pick(theme.opening) : theme.body[spoken % theme.body.length]!;
  const end_time = milliseconds((due - session.started_at) / 1000);
  addTranscript(tx, {
    transcript_id: tx.newId("mbtrans_"),
    text,
    confidence: random.int(86, 99) / 100,
    start_time: milliseconds(Math.max(lastEnd(tx, subject), end_time - speakingSeconds(text, random))),
    end_time,
    speaker: random.pick(listSpeakers(tx, subject)),
    language_code: session.language_code,
    session_id: subject,
  });
  const wait = random.int(SHORTEST_MS, LONGEST_MS) * 2 ** Math.floor(spoken / LINES_PER_SLOWDOWN);
  tx.schedule({ kind: "meeting.line", subject, due: due + wait });
}

/** The end of the last line, in seconds since the session's start. */
function lastEnd(tx: Transaction, session_id: string): number {
  const all = tx.index(meetingTranscripts, "by_session", session_id);
  return all.size === 0 ? 0 : all.page(all.size - 1, 1)[0]!.end_time;
}
