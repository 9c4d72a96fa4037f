import { ApiError, invalidInput } from "../../contract/errors.ts";
import type { RecordLookup } from "../../contract/factory.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Settings } from "../../contract/settings.ts";
import type { Collection, StoredRecord } from "../../state/collection.ts";
import { timers, toTimerId } from "../../state/timers.ts";
import type { Transaction } from "../../state/transaction.ts";
import {
  ADMINISTRATOR_ROLE,
  type Caller,
  explainRefusal,
  isAdministrator,
  isMember,
} from "../organizations/access.ts";
import { roundToMilliseconds } from "../transcriptions/rules.ts";
import { users } from "../users/schema.ts";
import { drawSpeechSeconds, findTheme } from "./sample-text.ts";
import {
  type MeetingRecording,
  type MeetingSession,
  meetingLogs,
  meetingRecordings,
  meetingSessions,
  meetingStreamEntries,
  meetingTranscripts,
  type StreamEntry,
} from "./schema.ts";

type SessionCall = Caller & { params: { session_id: string } };

/** The errors of `requireSession`. */
export const SESSION_ERRORS = ["SESSION_NOT_FOUND", "SESSION_ACCESS_DENIED"] as const;
/** The errors of `requireManagedSession`. */
export const MANAGED_SESSION_ERRORS = [
  ...SESSION_ERRORS,
  { code: "INSUFFICIENT_PERMISSIONS", details: ["session_id"] },
] as const;

/**
 * Finds the session of the path for a member of its organization (section 4.1, G16).
 * @throws ApiError SESSION_NOT_FOUND, SESSION_ACCESS_DENIED
 */
export function requireSession(call: SessionCall): MeetingSession {
  const details = { session_id: call.params.session_id };
  const session = call.world.get(meetingSessions, details.session_id);
  if (session === undefined) throw new ApiError("SESSION_NOT_FOUND", { details });
  const { organization_id } = session;
  if (!isMember(call, organization_id))
    throw new ApiError("SESSION_ACCESS_DENIED", { details, reason: explainRefusal(call, organization_id) });
  return session;
}

/**
 * Finds the session for its owner and for owners and admins of its organization.
 * @throws ApiError also INSUFFICIENT_PERMISSIONS
 */
export function requireManagedSession(call: SessionCall): MeetingSession {
  const session = requireSession(call);
  const { session_id, owner_id, organization_id } = session;
  if (owner_id === call.principal.user_id || isAdministrator(call, organization_id)) return session;
  const requirement = `to own the session, which is ${owner_id}'s, or ${ADMINISTRATOR_ROLE}`;
  throw new ApiError("INSUFFICIENT_PERMISSIONS", {
    details: { session_id },
    reason: explainRefusal(call, organization_id, requirement),
    system_message:
      "Only the session's owner, or an owner or admin of its organization, may stop or delete it.",
  });
}

/** A record of a session's transcript or log, which a stream sends. */
interface StreamedRecord {
  session_id: string;
  kind: StreamEntry["kind"];
  record_id: string;
}

export function toStreamEntry(
  { session_id, kind, record_id }: StreamedRecord,
  position: number,
): StreamEntry {
  return { id: `${session_id}/${kind}/${position}`, session_id, kind, position, record_id };
}

function appendToStream(tx: Transaction, entry: StreamedRecord): void {
  const { size } = tx.index(meetingStreamEntries, "by_stream", `${entry.session_id}/${entry.kind}`);
  tx.insert(meetingStreamEntries, toStreamEntry(entry, size + 1));
}

/** Removes an entry from its stream. The position is not reused, not even by a later record with the same id. */
function clearStreamEntry(tx: Transaction, { session_id, kind, record_id }: StreamedRecord): void {
  for (const entry of tx.index(meetingStreamEntries, "by_stream", `${session_id}/${kind}`))
    if (entry.record_id === record_id) tx.put(meetingStreamEntries, { ...entry, record_id: null });
}

/** The rules of a collection whose records a stream sends in the order in which they were added. */
function createStreamedRules<R extends StoredRecord & { session_id: string }>(
  kind: StreamEntry["kind"],
  collection: Collection<R>,
  check: (record: R) => void = () => {},
) {
  const toStreamedRecord = (record: R): StreamedRecord => {
    return { session_id: record.session_id, kind, record_id: collection.getId(record) };
  };
  return {
    insert(tx, record) {
      check(record);
      tx.insert(collection, record);
      appendToStream(tx, toStreamedRecord(record));
      return record;
    },
    update(tx, before, after) {
      check(after);
      tx.put(collection, after);
      if (before.session_id !== after.session_id) {
        clearStreamEntry(tx, toStreamedRecord(before));
        appendToStream(tx, toStreamedRecord(after));
      }
      return after;
    },
    beforeRemove: (tx, record) => clearStreamEntry(tx, toStreamedRecord(record)),
  } satisfies StateRules<R>;
}

export const logStateRules = createStreamedRules("log", meetingLogs);
export const transcriptStateRules = createStreamedRules(
  "transcript",
  meetingTranscripts,
  ({ start_time, end_time }) => {
    if (end_time < start_time)
      throw invalidInput("end_time", end_time, "end_time must not be before start_time");
  },
);

function writeLog(tx: Transaction, session_id: string, message: string): void {
  logStateRules.insert(tx, { id: tx.createId("mblog_"), session_id, at: tx.now, level: "info", message });
}

/** Ends a running session and keeps its data (section 3.7); a session that has ended stays as it is (G16). */
export function stopSession(tx: Transaction, session: MeetingSession, stoppedBy: string): MeetingSession {
  if (session.status === "completed") return session;
  tx.unschedule("meeting.line", session.session_id);
  const stopped = tx.put(meetingSessions, setEnd(session, { ...session, status: "completed" }, tx.now));
  finishRecordings(tx, stopped);
  writeLog(tx, session.session_id, `Session stopped by ${stoppedBy}.`);
  return stopped;
}

function finishRecordings(tx: Transaction, { session_id, ended_at }: MeetingSession): void {
  for (const recording of tx.index(meetingRecordings, "by_session", session_id)) {
    if (recording.duration_seconds === null) tx.put(meetingRecordings, finishRecording(recording, ended_at));
  }
}

/** Bytes of a second of compressed speech, for the metadata of recordings. */
const BYTES_PER_SECOND = 16_000;

function finishRecording(recording: MeetingRecording, ended_at: number | null): MeetingRecording {
  if (ended_at === null) return recording;
  const duration_seconds = Math.max(0, ended_at - recording.started_at) / 1000;
  return { ...recording, duration_seconds, size_bytes: Math.round(duration_seconds * BYTES_PER_SECOND) };
}

/** Makes a recording that begins with its session, and ends with the session if that has ended. */
export function createRecording(
  recording_id: string,
  { session_id, started_at, ended_at }: Pick<MeetingSession, "session_id" | "started_at" | "ended_at">,
): MeetingRecording {
  const recording = { recording_id, session_id, mime_type: "audio/mp4", started_at };
  return finishRecording({ ...recording, duration_seconds: null, size_bytes: null }, ended_at);
}

function startRecording(tx: Transaction, session: MeetingSession): void {
  tx.insert(meetingRecordings, createRecording(tx.createId("mbrec_"), session));
}

/** State calls create sessions and add to them, in place of the assistant in a meeting (G16). */
export const sessionStateRules: StateRules<MeetingSession> = {
  insert(tx, record, { settings }) {
    requireValid(tx, record);
    tx.insert(meetingSessions, record);
    if (record.status === "running") scheduleNextLine(tx, record, settings);
    writeLog(tx, record.session_id, "Session started.");
    if (record.has_recording) startRecording(tx, record);
    if (record.ended_at !== null) writeLog(tx, record.session_id, "Session ended.");
    return record;
  },
  update(tx, before, changed, { settings }) {
    const after = setEnd(before, changed, tx.now);
    requireValid(tx, after);
    tx.put(meetingSessions, after);
    const { session_id } = after;
    if (after.has_recording && !before.has_recording) startRecording(tx, after);
    if (!after.has_recording && before.has_recording)
      for (const { recording_id } of tx.index(meetingRecordings, "by_session", session_id))
        tx.remove(meetingRecordings, recording_id);
    if (before.status === after.status) return after;
    if (after.status === "completed") {
      tx.unschedule("meeting.line", session_id);
      finishRecordings(tx, after);
    } else scheduleNextLine(tx, after, settings);
    writeLog(tx, session_id, after.status === "completed" ? "Session ended." : "Session resumed.");
    return after;
  },
};

/** Sets the end by the status, unless the call gives an end. */
function setEnd(before: MeetingSession, after: MeetingSession, now: number): MeetingSession {
  if (before.status === after.status || before.ended_at !== after.ended_at) return after;
  return { ...after, ended_at: after.status === "completed" ? Math.max(now, after.started_at) : null };
}

function requireValid(tx: Transaction, { status, started_at, ended_at }: MeetingSession): void {
  const value = ended_at === null ? null : tx.toIso(ended_at);
  if (status === "running" && ended_at !== null)
    throw invalidInput("ended_at", value, "a running session has no end");
  if (status === "completed" && ended_at === null)
    throw invalidInput("ended_at", value, "a completed session has an end");
  if (ended_at !== null && ended_at < started_at)
    throw invalidInput("ended_at", value, "ended_at must not be before started_at");
}

/** `has_recording` of a session follows from its recordings. */
export const recordingStateRules: StateRules<MeetingRecording> = {
  insert(tx, record) {
    tx.update(meetingSessions, record.session_id, { has_recording: true });
    return tx.insert(meetingRecordings, record);
  },
  update(tx, before, after) {
    tx.put(meetingRecordings, after);
    for (const id of new Set([before.session_id, after.session_id])) updateHasRecording(tx, id);
    return after;
  },
  beforeRemove(tx, record) {
    tx.remove(meetingRecordings, record.recording_id);
    updateHasRecording(tx, record.session_id);
  },
};

function updateHasRecording(tx: Transaction, session_id: string): void {
  const { size } = tx.index(meetingRecordings, "by_session", session_id);
  if (tx.get(meetingSessions, session_id))
    tx.update(meetingSessions, session_id, { has_recording: size > 0 });
}

/** The time from the end of one line to the end of the next, which is longer than any line. */
const MIN_LINE_INTERVAL_MS = 9_000;
const MAX_LINE_INTERVAL_MS = 16_000;
/** After each 500 lines the interval doubles, so that the transcript of an endless meeting stays small. */
const LINES_PER_DOUBLING = 500;

/** Sets the timer for the next line of each running session, or removes all if `live_meetings` is off (G34). */
export function updateLineTimers(tx: Transaction, settings: Settings): void {
  if (settings.live_meetings === "off") {
    for (const { subject } of tx.index(timers, "by_kind", "meeting.line"))
      tx.unschedule("meeting.line", subject);
    return;
  }
  for (const session of tx.index(meetingSessions, "running", "")) scheduleNextLine(tx, session, settings);
}

/** Schedules the next line of a running session, unless it is scheduled. */
function scheduleNextLine(
  tx: Transaction,
  { session_id, started_at }: MeetingSession,
  { live_meetings }: Pick<Settings, "live_meetings">,
): void {
  if (live_meetings === "off" || tx.get(timers, toTimerId("meeting.line", session_id)) !== undefined) return;
  const from = Math.max(tx.now, started_at + Math.round(findLastEnd(tx, session_id) * 1000));
  tx.schedule({ kind: "meeting.line", subject: session_id, due: from + MAX_LINE_INTERVAL_MS });
}

/** Handles `meeting.line` timers: adds a line to a running meeting. */
export function addSpokenLine(tx: Transaction, { subject, due }: { subject: string; due: number }): void {
  const session = tx.get(meetingSessions, subject);
  if (session?.status !== "running") return;
  const lastEnd = findLastEnd(tx, subject);
  const end_time = roundToMilliseconds((due - session.started_at) / 1000);
  // Since the timer was set, a state call has added a line that ends later, or moved the start.
  if (end_time < lastEnd) return void scheduleNextLine(tx, session, { live_meetings: "on" });
  const lineCount = tx.index(meetingTranscripts, "by_session", subject).size;
  const random = tx.random("meeting_line");
  const theme = findTheme(subject);
  const text = lineCount === 0 ? random.pick(theme.openings) : theme.body[lineCount % theme.body.length]!;
  transcriptStateRules.insert(tx, {
    transcript_id: tx.createId("mbtrans_"),
    text,
    confidence: random.int(86, 99) / 100,
    start_time: roundToMilliseconds(Math.max(lastEnd, end_time - drawSpeechSeconds(text, random))),
    end_time,
    speaker: random.pick(listSpeakers(tx, subject)),
    language_code: session.language_code,
    session_id: subject,
  });
  const interval =
    random.int(MIN_LINE_INTERVAL_MS, MAX_LINE_INTERVAL_MS) * 2 ** Math.floor(lineCount / LINES_PER_DOUBLING);
  tx.schedule({ kind: "meeting.line", subject, due: due + interval });
}

/** The end of the last line, in seconds since the session's start. */
export function findLastEnd(world: RecordLookup, session_id: string): number {
  return world.index(meetingTranscripts, "by_session", session_id).last()?.end_time ?? 0;
}

const MAX_SCANNED = 20;
const MAX_ATTENDEES = 4;

export function listSpeakers(world: RecordLookup, session_id: string): readonly string[] {
  const entries = world.index(meetingTranscripts, "by_session", session_id).page(0, MAX_SCANNED);
  const speakers = new Set(entries.map(({ speaker }) => speaker));
  if (speakers.size > 1) return [...speakers];
  const organization_id = world.get(meetingSessions, session_id)?.organization_id ?? "";
  return [...new Set([...speakers, ...listAttendees(world, organization_id)])];
}

/** The first names of a few members of an organization. */
export function listAttendees(world: RecordLookup, organization_id: string): readonly string[] {
  const members = world.index(users, "by_organization", organization_id).page(0, MAX_ATTENDEES);
  return members.length > 0 ? members.map(({ name }) => name.split(" ")[0]!) : ["Speaker 1"];
}
